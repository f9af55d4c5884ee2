package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kingpin/v2"
)

// memoryRefresh is how often the limit of the cgroup is read again: that of a pod can be changed while it runs.
const memoryRefresh = time.Minute

// memoryFlags are those of Prometheus.
type memoryFlags struct {
	auto      bool
	ratio     float64
	container memlimit.Provider
}

func registerMemory(cmd *kingpin.CmdClause) *memoryFlags {
	f := &memoryFlags{container: memlimit.FromCgroup}
	cmd.Flag("auto-gomemlimit", "Let the garbage collector work harder as memory approaches the limit of the container, unless GOMEMLIMIT is set.").
		Default("true").BoolVar(&f.auto)
	cmd.Flag("auto-gomemlimit.ratio", "The share of the container's memory limit that --auto-gomemlimit aims at.").
		Default("0.8").FloatVar(&f.ratio)
	return f
}

func (f *memoryFlags) validate() error {
	if !(f.ratio > 0 && f.ratio <= 1) { // NaN is not
		return usageError{fmt.Errorf("--auto-gomemlimit.ratio: %v is not a share; give one above 0 and up to 1", f.ratio)}
	}
	return nil
}

// apply sets the memory limit of the Go runtime until ctx ends, and says what it is. go_gc_gomemlimit_bytes has it, too.
// That it cannot be found out keeps nothing from running.
func (f *memoryFlags) apply(ctx context.Context, log *slog.Logger) {
	if f.auto {
		_, err := memlimit.Set(
			memlimit.WithRatio(f.ratio),
			memlimit.WithProvider(f.container),
			memlimit.WithRefreshInterval(ctx, memoryRefresh),
		)
		if err != nil {
			log.Warn("The memory limit of the container cannot be read", "err", err)
		}
	}
	switch limit := debug.SetMemoryLimit(-1); limit {
	case math.MaxInt64:
		log.Info("Memory is not limited")
	default:
		log.Info("Memory limit", "gomemlimit_bytes", limit)
	}
}
