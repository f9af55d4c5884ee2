package main

import (
	"log/slog"

	"github.com/prometheus/common/promslog"
	"k8s.io/klog/v2"
)

// newLogger returns the logger that everything writes to. client-go's klog is global; it is pointed to the same handler
// here, before anything of client-go runs.
func newLogger(config *promslog.Config) *slog.Logger {
	log := promslog.New(config)
	klog.SetSlogLogger(log)
	return log
}
