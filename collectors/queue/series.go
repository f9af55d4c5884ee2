package queue

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// registry holds the queues and rate limiters of one Observer by controller.
type registry struct {
	*core.Observer
	queues   series.Pool[string, *queueSeries]
	limiters series.Pool[string, *limiterSeries]
	// dropped is a separate pool, because items left by a shutdown are counted after the queue has ended.
	dropped series.Pool[string, *droppedSeries]
	// upstream returns client-go's own metrics of queues, nil if other code has registered them. The first call registers
	// them.
	upstream func() *upstreamQueues
}

var _ core.Part = &registry{}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(core.Of(obs), func(o *core.Observer) *registry {
		return &registry{Observer: o, upstream: sync.OnceValue(func() *upstreamQueues {
			return core.Register(o, "workqueue_*", newUpstreamQueues(o))
		})}
	})
}

// queueSeries are the series of a controller's queues. Usually there is one queue.
type queueSeries struct {
	*core.Scope
	// controller is the label value.
	controller string
	coalesced  prometheus.Counter
	selfCaused *core.LazyCounter
	members[queueState]
}

// queueState is read by a scrape.
type queueState interface {
	// delayed returns the number of delayed items.
	delayed() int
	// oldest returns how long the oldest item has been ready, 0 if none is.
	oldest() time.Duration
	// workers returns the number of workers that wait in Get or process an item. known is false if Get is not observed.
	workers() (n int, known bool)
	// depth returns the number of ready items.
	depth() int
	// find returns how long an item with the given name has been ready, and whether it is ready and delayed. It takes time in
	// proportion to the number of items.
	find(name string) (ready time.Duration, isReady, isDelayed bool)
}

// limiterSeries are the series of a controller's rate limiters. Usually there is one.
type limiterSeries struct {
	*core.Scope
	// controller is the label value.
	controller       string
	backoff, retries prometheus.Observer
	// logged is the time of the last log line about an item, 0 if there was none.
	logged atomic.Int64
	members[limiterState]
}

// limiterState is read by a scrape.
type limiterState interface {
	// highest returns the highest number of retries of an item that has not been forgotten, 0 if there is none.
	highest() int
	// find returns the items that have not been forgotten or expired, and have a name that matches.
	find(o *core.Observer, matches func(name string) bool) []inspection.Item
}

// droppedSeries are the counters of a controller's dropped items by reason.
type droppedSeries struct {
	*core.Scope
	reasons *core.CounterSet
}

// members are the queues or rate limiters that share series. All methods are safe for concurrent use.
type members[M comparable] struct {
	mu  sync.Mutex
	all []M
}

func (m *members[M]) add(member M) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, member)
}

func (m *members[M]) remove(member M) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = slices.DeleteFunc(m.all, func(other M) bool { return other == member })
}

func (m *members[M]) current() []M {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// join returns the series of a controller. They exist at least until leave is called, which must be done exactly once.
func join[S interface{ End() }](r *registry, pool *series.Pool[string, S], controller string, create func(*core.Scope) S) (s S, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = pool.Acquire(label, func() S { return create(r.Metrics.Scope(label)) })
	return s, func() {
		pool.Release(label, S.End)
		r.Labels.Controllers.Release(label)
	}
}

func (r *registry) joinQueue(controller string) (s *queueSeries, leave func()) {
	return join(r, &r.queues, controller, func(scope *core.Scope) *queueSeries {
		return &queueSeries{
			Scope: scope, controller: scope.Labels()[0], coalesced: scope.Counter(catalog.ControllerQueueCoalesced),
			selfCaused: scope.LazyCounter(catalog.ControllerSelfCaused),
		}
	})
}

func (r *registry) joinDropped(controller string) (s *droppedSeries, leave func()) {
	return join(r, &r.dropped, controller, func(scope *core.Scope) *droppedSeries {
		return &droppedSeries{scope, scope.CounterSet(catalog.ControllerDropped)}
	})
}

// joinLimiter makes the state visible to scrapes until leave is called.
func (r *registry) joinLimiter(controller string, state limiterState) (s *limiterSeries, leave func()) {
	s, end := join(r, &r.limiters, controller, func(scope *core.Scope) *limiterSeries {
		return &limiterSeries{
			Scope: scope, controller: scope.Labels()[0],
			backoff: scope.Histogram(catalog.ControllerBackoff), retries: scope.Histogram(catalog.ControllerItemRetries),
		}
	})
	s.add(state)
	return s, func() { s.remove(state); end() }
}

// Collect implements core.Part. For the queues of one controller it reports the sum of delayed items and of workers, the oldest
// item of all, and the highest number of retries. It takes the lock of each queue and rate limiter briefly.
func (r *registry) Collect(ch chan<- prometheus.Metric) {
	for _, s := range r.queues.Values() {
		q := s.state()
		s.SendGauge(ch, catalog.ControllerQueueDelayedItems, float64(q.Delayed))
		s.SendGauge(ch, catalog.ControllerQueueOldestItem, q.OldestSeconds)
		if q.RunningWorkers != nil {
			s.SendGauge(ch, catalog.ControllerRunningWorkers, float64(*q.RunningWorkers))
		}
	}
	for _, s := range r.limiters.Values() {
		highest := 0
		for _, l := range s.current() {
			highest = max(highest, l.highest())
		}
		s.SendGauge(ch, catalog.ControllerItemRetriesMax, float64(highest))
	}
}

// state returns the state of a controller's queues together.
func (s *queueSeries) state() inspection.Queue {
	all := inspection.Queue{Controller: s.controller}
	var oldest time.Duration
	for _, q := range s.current() {
		all.Ready += q.depth()
		all.Delayed += q.delayed()
		oldest = max(oldest, q.oldest())
		if n, known := q.workers(); known {
			if all.RunningWorkers != nil {
				n += *all.RunningWorkers
			}
			all.RunningWorkers = &n
		}
	}
	all.OldestSeconds = oldest.Seconds()
	return all
}
