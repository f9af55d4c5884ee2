package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
)

// reloadOnHangup reloads the configuration file on SIGHUP, until stop is called.
func reloadOnHangup(e *exporter.Exporter) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	var running sync.WaitGroup
	running.Go(func() {
		for range hangups {
			_ = e.Reload() // logged by Reload
		}
	})
	return func() {
		signal.Stop(hangups)
		close(hangups)
		running.Wait()
	}
}
