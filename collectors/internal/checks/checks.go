package checks

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/footprint"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// The maximum number of concurrent checks of an Observer. Audits that take longer than auditTurn do not count.
const (
	concurrentFreshnessChecks = 16
	concurrentAudits          = 1
	concurrentMutationChecks  = 1
	concurrentMemoryChecks    = 1
)

// Shared is the state that the checks of all informers of an Observer share.
type Shared struct {
	freshness         rotation
	audits, mutations schedule.Slots
	memory            schedule.Slots
	syncs             syncs
	// auditing is the number of informers that are audited.
	auditing atomic.Int64
	// Auditing is open while audits may run.
	Auditing *schedule.Gate
}

// NewShared returns a Shared that allows audits.
func NewShared() *Shared {
	return &Shared{
		audits:    make(schedule.Slots, concurrentAudits),
		mutations: make(schedule.Slots, concurrentMutationChecks),
		memory:    make(schedule.Slots, concurrentMemoryChecks),
		Auditing:  schedule.NewGate(),
	}
}

// Subject is the informer that is checked.
type Subject struct {
	Observer *core.Observer
	Shared   *Shared
	Metrics  *Metrics
	// InformerType and WatchNamespace are labels, for logs.
	InformerType, WatchNamespace string
	Intervals                    core.Checks
	Connection                   *stream.Connection
	// Lister is the ListerWatcher without its decorator, so that requests of checks are not counted. It is nil if the
	// connection is not observed: then only mutations are checked.
	Lister cache.ListerWatcherWithContext
	// Store is the store without its decorator. It is nil if no store is observed: then nothing is checked.
	Store audit.Indexer
	// Renamed returns the keys of objects that a Transform renamed. It may be nil.
	Renamed audit.Renamed
}

func (s *Subject) logger() *slog.Logger {
	return s.Observer.Logger.With("informer_type", s.InformerType, "watch_namespace", s.WatchNamespace)
}

// Checks are the checks of one informer. All methods are safe for concurrent use.
type Checks struct {
	Subject
	fresh   freshness
	audits  audits
	version storeVersion
	bytes   atomic.Pointer[footprint.Bytes]
}

// New returns the checks of an informer, which run from Start until the function that Start returns is called. It creates
// the series of the checks that will run.
func New(subject Subject) *Checks {
	c := &Checks{Subject: subject}
	for _, k := range c.enabled() {
		k.addSeries()
	}
	return c
}

// check is one of the checks of an informer: its series, and the loop that runs it.
type check struct {
	addSeries func()
	run       func(context.Context)
	// later is set if the check waits for the initial syncs of all informers.
	later bool
}

// enabled returns the checks that have an interval and can run.
func (c *Checks) enabled() (all []check) {
	for _, k := range []struct {
		check
		interval time.Duration
		// connection is set if the check makes requests.
		connection bool
	}{
		{check{c.Metrics.addFreshness, c.checkFreshness, false}, c.Intervals.Freshness, true},
		{check{c.Metrics.addAudits, c.auditUnlessPaused, true}, c.Intervals.Audit, true},
		{check{c.Metrics.addMutations, c.checkMutations, false}, c.Intervals.Mutations, false},
		{check{func() {}, c.checkMemory, false}, c.Intervals.Memory, false},
	} {
		if k.interval != 0 && c.Store != nil && (c.Lister != nil || !k.connection) {
			all = append(all, k.check)
		}
	}
	return all
}

// Start starts the checks that have an interval. They begin when the informer has synced. Audits also wait for the initial
// syncs of the Observer's other informers, for at most auditSyncWait, so that their lists do not delay these syncs. The returned
// function stops the checks and waits until they have ended.
func (c *Checks) Start(ctx context.Context, synced <-chan struct{}) (stop func()) {
	enabled := c.enabled()
	if len(enabled) == 0 { // a context that can be canceled may cost a goroutine
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, k := range enabled {
		if k.later {
			c.Shared.syncs.begin()
		}
		running.Go(func() {
			select {
			case <-synced:
			case <-ctx.Done():
			}
			if k.later {
				c.Shared.syncs.end()
				c.Shared.syncs.wait(ctx, min(auditSyncWait, c.Intervals.Audit))
			}
			if ctx.Err() == nil {
				k.run(ctx)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}
