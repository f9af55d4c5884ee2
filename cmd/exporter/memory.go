package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/pflag"
)

// gcPercent is the growth of the heap that triggers garbage collection. The live heap is mostly caches, which hardly change: at
// 20 instead of Go's default of 100, collections stay cheap, and garbage is at most about a sixth of the heap.
const gcPercent = 20

// setGCPercent applies gcPercent, unless $GOGC is set.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// memoryRefresh is the interval at which the limit of the cgroup is read. The limit of a running pod can change.
const memoryRefresh = time.Minute

// memoryFlags are the memory limit flags. Prometheus has the same ones.
type memoryFlags struct {
	auto      bool
	ratio     float64
	container memlimit.Provider
}

func registerMemory(flags *pflag.FlagSet) *memoryFlags {
	f := &memoryFlags{container: memlimit.FromCgroup}
	flags.BoolVar(&f.auto, "auto-gomemlimit", true, "Set GOMEMLIMIT to match the memory limit of the container, unless it is set.")
	flags.Float64Var(&f.ratio, "auto-gomemlimit.ratio", 0.8, "The `RATIO` of reserved GOMEMLIMIT memory to the detected memory limit of the container.")
	return f
}

// limitMemory sets the memory limit of a command without memory flags to the default.
func limitMemory(ctx context.Context, log *slog.Logger) {
	registerMemory(pflag.NewFlagSet("", pflag.ContinueOnError)).apply(ctx, log)
}

func (f *memoryFlags) validate() error {
	if !(f.ratio > 0 && f.ratio <= 1) { // also rejects NaN
		return usageError{fmt.Errorf("--auto-gomemlimit.ratio: %v is out of range; set a value above 0 and at most 1", f.ratio)}
	}
	return nil
}

// apply sets the memory limit of the Go runtime, logs it, and updates it until ctx ends. Errors are logged and are not fatal.
func (f *memoryFlags) apply(ctx context.Context, log *slog.Logger) {
	if f.auto {
		_, err := memlimit.Set(
			memlimit.WithRatio(f.ratio),
			memlimit.WithProvider(f.container),
			memlimit.WithRefreshInterval(ctx, memoryRefresh),
		)
		if err != nil {
			log.Warn("cannot read the memory limit of the container", "err", err)
		}
	}
	switch limit := debug.SetMemoryLimit(-1); limit {
	case math.MaxInt64:
		log.Info("memory is not limited")
	default:
		log.Info("memory limit set", "gomemlimit_bytes", limit)
	}
}
