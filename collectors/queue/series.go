package queue

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// registry holds the queues and rate limiters of one Observer by controller.
type registry struct {
	*core.Observer
	queues   series.Pool[string, *queueSeries]
	limiters series.Pool[string, *limiterSeries]
	// dropped is a separate pool, because items left by a shutdown are counted after the queue has ended.
	dropped series.Pool[string, map[DropReason]prometheus.Counter]
	// upstream returns client-go's own metrics of queues, nil if other code has registered them. The first call registers
	// them.
	upstream func() *upstreamQueues
}

var _ core.Part = &registry{}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(obs.Core(), func(o *core.Observer) *registry {
		return &registry{Observer: o, upstream: sync.OnceValue(func() *upstreamQueues {
			return core.Register(o, "workqueue_*", newUpstreamQueues(o))
		})}
	})
}

// queueSeries are the series of a controller's queues. Usually there is one queue.
type queueSeries struct {
	// controller is the label value.
	controller string
	coalesced  prometheus.Counter

	mu      sync.Mutex
	members []queueState
}

// queueState is read by a scrape.
type queueState interface {
	// delayed returns the number of delayed items.
	delayed() int
	// oldest returns how long the oldest item has been ready, 0 if none is.
	oldest() time.Duration
}

// limiterSeries are the series of a controller's rate limiters. Usually there is one.
type limiterSeries struct {
	backoff, retries prometheus.Observer
}

// joinQueue returns the series of a controller's queues. They exist at least until leave is called, which must be done
// exactly once.
func (r *registry) joinQueue(controller string) (s *queueSeries, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = r.queues.Acquire(label, func() *queueSeries {
		return &queueSeries{controller: label, coalesced: r.Metrics.Counter(catalog.ControllerQueueCoalesced, label)}
	})
	return s, func() {
		r.queues.Release(label, func(*queueSeries) { r.Metrics.Delete(catalog.ControllerQueueCoalesced.Metric, label) })
		r.Labels.Controllers.Release(label)
	}
}

// joinDropped is joinQueue for the counters of dropped items.
func (r *registry) joinDropped(controller string) (counters map[DropReason]prometheus.Counter, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	counters = r.dropped.Acquire(label, func() map[DropReason]prometheus.Counter {
		set := map[DropReason]prometheus.Counter{}
		for reason, counter := range r.Metrics.CounterSet(catalog.ControllerDropped, label) {
			set[DropReason(reason)] = counter
		}
		return set
	})
	return counters, func() {
		r.dropped.Release(label, func(map[DropReason]prometheus.Counter) {
			r.Metrics.DeleteSet(catalog.ControllerDropped.Metric, label)
		})
		r.Labels.Controllers.Release(label)
	}
}

// joinLimiter is joinQueue for the series of a controller's rate limiters.
func (r *registry) joinLimiter(controller string) (s *limiterSeries, leave func()) {
	label := r.Labels.Controllers.Acquire(controller)
	s = r.limiters.Acquire(label, func() *limiterSeries {
		return &limiterSeries{
			backoff: r.Metrics.Histogram(catalog.ControllerBackoff, label),
			retries: r.Metrics.Histogram(catalog.ControllerItemRetries, label),
		}
	})
	return s, func() {
		r.limiters.Release(label, func(*limiterSeries) {
			r.Metrics.Delete(catalog.ControllerBackoff.Metric, label)
			r.Metrics.Delete(catalog.ControllerItemRetries.Metric, label)
		})
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

// Collect implements core.Part. For the queues of one controller it reports the sum of delayed items and the oldest item of
// all. It takes the lock of each queue briefly.
func (r *registry) Collect(ch chan<- prometheus.Metric) {
	for _, s := range r.queues.Values() {
		s.mu.Lock()
		members := slices.Clone(s.members)
		s.mu.Unlock()
		var (
			delayed int
			oldest  time.Duration
		)
		for _, q := range members {
			delayed += q.delayed()
			oldest = max(oldest, q.oldest())
		}
		ch <- r.Metrics.GaugeValue(catalog.ControllerQueueDelayedItems, float64(delayed), s.controller)
		ch <- r.Metrics.GaugeValue(catalog.ControllerQueueOldestItem, oldest.Seconds(), s.controller)
	}
}
