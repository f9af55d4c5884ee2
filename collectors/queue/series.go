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

	mu      sync.Mutex
	members []queueState
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

	mu      sync.Mutex
	members []limiterState
}

// limiterState is read by a scrape.
type limiterState interface {
	// highest returns the highest number of retries of an item that has not been forgotten, 0 if there is none.
	highest() int
	// all returns the items that have not been forgotten. find returns those with a name.
	all(*core.Observer) []inspection.Item
	find(o *core.Observer, name string) []inspection.Item
}

// joinQueue returns the series of a controller's queues. They exist at least until leave is called, which must be done
// exactly once.
func (r *registry) joinQueue(controller string) (s *queueSeries, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = r.queues.Acquire(label, func() *queueSeries {
		scope := r.Metrics.Scope(label)
		return &queueSeries{
			Scope: scope, controller: label, coalesced: scope.Counter(catalog.ControllerQueueCoalesced),
			selfCaused: scope.LazyCounter(catalog.ControllerSelfCaused),
		}
	})
	return s, func() {
		r.queues.Release(label, func(s *queueSeries) { s.End() })
		r.Labels.Controllers.Release(label)
	}
}

// droppedSeries are the counters of a controller's dropped items by reason.
type droppedSeries struct {
	*core.CounterSet
	scope *core.Scope
}

// joinDropped is joinQueue for the counters of dropped items.
func (r *registry) joinDropped(controller string) (s *droppedSeries, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = r.dropped.Acquire(label, func() *droppedSeries {
		scope := r.Metrics.Scope(label)
		return &droppedSeries{scope.CounterSet(catalog.ControllerDropped), scope}
	})
	return s, func() {
		r.dropped.Release(label, func(s *droppedSeries) { s.scope.End() })
		r.Labels.Controllers.Release(label)
	}
}

// joinLimiter is joinQueue for the series of a controller's rate limiters. The state is visible to scrapes until leave is called.
func (r *registry) joinLimiter(controller string, state limiterState) (s *limiterSeries, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = r.limiters.Acquire(label, func() *limiterSeries {
		scope := r.Metrics.Scope(label)
		return &limiterSeries{
			Scope:      scope,
			controller: label,
			backoff:    scope.Histogram(catalog.ControllerBackoff),
			retries:    scope.Histogram(catalog.ControllerItemRetries),
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = append(s.members, state)
	return s, func() {
		s.mu.Lock()
		s.members = slices.DeleteFunc(s.members, func(m limiterState) bool { return m == state })
		s.mu.Unlock()
		r.limiters.Release(label, func(s *limiterSeries) { s.End() })
		r.Labels.Controllers.Release(label)
	}
}

// publish makes a queue visible to scrapes.
func (s *queueSeries) publish(q queueState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = append(s.members, q)
}

// withdraw undoes publish.
func (s *queueSeries) withdraw(q queueState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.members, q); at >= 0 {
		s.members = slices.Delete(s.members, at, at+1)
	}
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
	for _, q := range s.currentQueues() {
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

// currentQueues returns the controller's queues.
func (s *queueSeries) currentQueues() []queueState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.members)
}

// current returns the controller's rate limiters.
func (s *limiterSeries) current() []limiterState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.members)
}
