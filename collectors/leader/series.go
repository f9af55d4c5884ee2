package leader

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// registry holds the locks of one Observer by name.
type registry struct {
	*core.Observer
	locks series.Pool[string, *lockSeries]
	// upstream limits the names in client-go's own metrics. It has no overflow counter, because client-go passes the name each
	// time it sets a metric.
	upstream series.Cap
}

var _ core.Part = &registry{}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(core.Of(obs), func(o *core.Observer) *registry {
		return &registry{Observer: o, upstream: series.Cap{Limit: o.Labels.Locks.Limit}}
	})
}

// Collect implements core.Part.
func (r *registry) Collect(ch chan<- prometheus.Metric) {
	for _, s := range r.locks.Values() {
		s.collect(r, ch)
	}
}

// acquire returns the series of locks with the given name. They are never released.
func (r *registry) acquire(name string) *lockSeries {
	name = r.Labels.Locks.Acquire(name)
	return r.locks.Acquire(name, func() *lockSeries {
		scope := r.Metrics.Scope(name) // never ends
		return &lockSeries{
			Scope:       scope,
			transitions: scope.CounterSet(catalog.ControllerLeaderTransitions),
			renewals:    scope.ObserverSet(catalog.ControllerLeaderRenewDuration),
			slow:        scope.Counter(catalog.ControllerLeaderSlowRenewals),
			expiry:      map[*lock]int64{},
		}
	})
}

// lockSeries are the series of all locks with the same name.
type lockSeries struct {
	*core.Scope
	transitions *core.CounterSet
	renewals    *core.ObserverSet
	slow        prometheus.Counter

	mu sync.Mutex
	// expiry maps the leading candidates to the time at which their lease expires unless it is renewed.
	expiry map[*lock]int64
	// renewed is when the last request that acquired or renewed the lock was sent, 0 before the first.
	renewed int64
}

// hold makes a candidate the holder, from the time at which its request was sent.
func (s *lockSeries) hold(l *lock, sent int64, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.expiry[l]; !held {
		s.transitions.Inc(leaderAcquired)
	}
	s.expiry[l] = sent + int64(lease)
	s.renewed = max(s.renewed, sent)
}

// end counts the end of a candidate's leadership, if it led.
func (s *lockSeries) end(l *lock, event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.expiry[l]; held {
		delete(s.expiry, l)
		s.transitions.Inc(event)
	}
}

// writing is called before a candidate writes a record that names itself or no holder, and reports whether that is a renewal.
// A candidate that releases the lock stops leading before the response, because its successor may lead by then.
func (s *lockSeries) writing(l *lock, itself bool, now int64) (renewal bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, held := s.expiry[l]
	if held && !itself {
		s.expiry[l] = now
	}
	return held && itself
}

// renewal counts a request to renew the lock.
func (s *lockSeries) renewal(duration, retry time.Duration, err error) {
	result := renewSuccess
	switch {
	case apierrors.IsConflict(err):
		result = renewConflict
	case err != nil:
		result = renewError
	}
	s.renewals.Observe(result, duration.Seconds())
	if duration > retry {
		s.slow.Inc()
	}
}

// leads reports whether a candidate leads. The caller holds mu.
func (s *lockSeries) leads(now int64) (leads bool) {
	for _, expiry := range s.expiry {
		leads = leads || now < expiry
	}
	return leads
}

// collect sends the gauges.
func (s *lockSeries) collect(r *registry, ch chan<- prometheus.Metric) {
	s.mu.Lock()
	leads := s.leads(r.Now())
	var renewed time.Time
	if s.renewed != 0 {
		renewed = r.Wall(s.renewed)
	}
	s.mu.Unlock()
	s.SendGauge(ch, catalog.ControllerLeader, core.Bool(leads))
	s.SendGauge(ch, catalog.ControllerLeaderLastRenew, core.Unix(renewed))
}
