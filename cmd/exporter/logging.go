package main

import (
	"io"
	"log/slog"
	"sync"

	"github.com/prometheus/common/promslog"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// registerLogging adds the logging flags of Prometheus.
func registerLogging(flags *pflag.FlagSet, stderr io.Writer) *promslog.Config {
	config := &promslog.Config{Writer: stderr, Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	_ = config.Format.Set("logfmt") // promslog's default, for the help
	flags.Var(choice{config.Level, promslog.LevelFlagOptions}, "log.level", "Only log messages with the given severity or above.")
	flags.Var(choice{config.Format, promslog.FormatFlagOptions}, "log.format", "Output format of log messages.")
	return config
}

// redirectKlog sends klog's output to a logger, once: klog is global, and must be configured before its first use.
var redirectKlog sync.Once

// newLogger returns the logger of the program and of client-go.
func newLogger(config *promslog.Config) *slog.Logger {
	log := promslog.New(config)
	redirectKlog.Do(func() { klog.SetSlogLogger(log) })
	return log
}
