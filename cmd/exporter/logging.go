package main

import (
	"io"
	"log" //nolint:depguard // to send its output to log/slog
	"log/slog"
	"sync"

	"github.com/prometheus/common/promslog"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// registerLogging adds the logging flags of Prometheus.
func registerLogging(flags *pflag.FlagSet, stderr io.Writer) *promslog.Config {
	config := &promslog.Config{Writer: stderr, Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	_ = config.Format.Set("logfmt") // promslog's default, for the help
	flags.Var(choice{config.Level, promslog.LevelFlagOptions}, "log.level", "Only log messages with the given severity or above.")
	flags.Var(choice{config.Format, promslog.FormatFlagOptions}, "log.format", "Output format of log messages.")
	return config
}

// redirect sends the output of klog and of package log to a logger, once: both are global, and klog must be configured before its
// first use. net/http's client uses package log, and client-go logs warnings of the API server with klog.
var redirect sync.Once

func redirectLogs(logger *slog.Logger) {
	redirect.Do(func() {
		klog.SetSlogLogger(logger)
		log.SetFlags(log.Lshortfile) // makes slog record the call site, for the limits
		slog.SetDefault(logger)
	})
}

// newLogger returns the logger of the program and of client-go. It has limits, because peers can cause any number of messages.
func newLogger(config *promslog.Config) *slog.Logger {
	logger := slog.New(untrusted.NewLogHandler(promslog.New(config).Handler()))
	redirectLogs(logger)
	return logger
}

// silence discards the log, for commands that write a report. It returns a logger that does.
func silence() *slog.Logger {
	silent := slog.New(slog.DiscardHandler)
	redirectLogs(silent)
	return silent
}
