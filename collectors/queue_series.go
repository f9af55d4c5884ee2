package collectors

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// queues holds the series of an Observer's queues and rate limiters.
type queues struct {
	queues   series.Pool[string, *queueSeries]
	limiters series.Pool[string, *limiterSeries]
}

// queueSeries are the series of all queues of a controller: normally one.
type queueSeries struct {
	controller string
	coalesced  prometheus.Counter
	dropped    map[string]prometheus.Counter

	mu      sync.Mutex
	members []queueState
}

// queueState is what a scrape asks a queue.
type queueState interface {
	// waiting returns how many items wait for their time.
	waiting() int
	// oldest returns for how long the item that has been ready longest is so, 0 if none is.
	oldest() time.Duration
}

// limiterSeries are the series of all rate limiters of a controller: normally one.
type limiterSeries struct {
	backoff, retries prometheus.Observer
}

// joinQueue returns the series of a controller's queues. They are there at least until leave is called, which must be
// done exactly once.
func (o *Observer) joinQueue(controller string) (s *queueSeries, leave func()) {
	name := o.controllers.names.Acquire(controller)
	s = o.queues.queues.Acquire(name, func() *queueSeries {
		return &queueSeries{
			controller: name,
			coalesced:  o.vecs.counter(catalog.ControllerQueueCoalesced, name),
			dropped:    o.acquireDropped(name),
		}
	})
	return s, func() {
		o.queues.queues.Release(name, func(*queueSeries) {
			o.vecs.forget(catalog.ControllerQueueCoalesced, name)
			o.releaseDropped(name)
		})
		o.controllers.names.Release(name)
	}
}

// joinLimiter does the same for the series of a controller's rate limiters.
func (o *Observer) joinLimiter(controller string) (s *limiterSeries, leave func()) {
	name := o.controllers.names.Acquire(controller)
	s = o.queues.limiters.Acquire(name, func() *limiterSeries {
		return &limiterSeries{
			backoff: o.vecs.histogram(catalog.ControllerBackoff, name),
			retries: o.vecs.histogram(catalog.ControllerItemRetries, name),
		}
	})
	return s, func() {
		o.queues.limiters.Release(name, func(*limiterSeries) {
			o.vecs.forget(catalog.ControllerBackoff, name)
			o.vecs.forget(catalog.ControllerItemRetries, name)
		})
		o.controllers.names.Release(name)
	}
}

// publish lets scrapes see a queue.
func (s *queueSeries) publish(q queueState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = append(s.members, q)
}

// withdraw ends what publish began.
func (s *queueSeries) withdraw(q queueState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.members, q); at >= 0 {
		s.members = slices.Delete(s.members, at, at+1)
	}
}

// collectQueues sends what is read at the time of the scrape. The queues of one controller are reported as one: what
// waits is added up, and the longest wait counts.
func (o *Observer) collectQueues(ch chan<- prometheus.Metric) {
	for _, s := range o.queues.queues.Values() {
		s.mu.Lock()
		members := slices.Clone(s.members)
		s.mu.Unlock()
		var (
			delayed int
			oldest  time.Duration
		)
		for _, q := range members {
			delayed += q.waiting()
			oldest = max(oldest, q.oldest())
		}
		ch <- o.vecs.sample(catalog.ControllerQueueDelayedItems, float64(delayed), s.controller)
		ch <- o.vecs.sample(catalog.ControllerQueueOldestItem, oldest.Seconds(), s.controller)
	}
}
