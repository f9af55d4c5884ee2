package main

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"k8s.io/klog/v2"
)

// registerLogging adds the logging flags of Prometheus.
func registerLogging(app *kingpin.Application, config *promslog.Config) {
	config.Level, config.Format = promslog.NewLevel(), promslog.NewFormat()
	app.Flag(promslogflag.LevelFlagName, promslogflag.LevelFlagHelp).
		Default("info").HintOptions(promslog.LevelFlagOptions...).
		SetValue(choice{config.Level, promslogflag.LevelFlagName, promslog.LevelFlagOptions})
	app.Flag(promslogflag.FormatFlagName, promslogflag.FormatFlagHelp).
		Default("logfmt").HintOptions(promslog.FormatFlagOptions...).
		SetValue(choice{config.Format, promslogflag.FormatFlagName, promslog.FormatFlagOptions})
}

// choice is a flag value with errors that name the flag and the valid values.
type choice struct {
	kingpin.Value
	flag    string
	options []string
}

// Set implements kingpin.Value.
func (c choice) Set(value string) error {
	if err := c.Value.Set(value); err != nil {
		return fmt.Errorf("--%s: %q is not one of %s", c.flag, value, strings.Join(c.options, ", "))
	}
	return nil
}

// redirectKlog sends klog's output to a logger, once: klog is global, and must be configured before its first use.
var redirectKlog sync.Once

// newLogger returns the logger of the program, client-go included.
func newLogger(config *promslog.Config) *slog.Logger {
	log := promslog.New(config)
	redirectKlog.Do(func() { klog.SetSlogLogger(log) })
	return log
}
