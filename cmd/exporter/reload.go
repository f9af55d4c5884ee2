package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
)

// reloadOnHangup reads the configuration file again on each SIGHUP, until the function that it returns is called.
func reloadOnHangup(e *exporter.Exporter) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	var running sync.WaitGroup
	running.Go(func() {
		for range hangups {
			_ = e.Reload() // which has logged what is wrong
		}
	})
	return func() {
		signal.Stop(hangups)
		close(hangups)
		running.Wait()
	}
}
