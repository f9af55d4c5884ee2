package collectors

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// LockOptions says more about a lock. The zero value is useful.
type LockOptions struct {
	// RetryPeriod is that of the LeaderElectionConfig, which the lock does not know: a renewal that takes longer is slow.
	// The default is 2 s, as in Kubernetes' own components and in controller-runtime.
	RetryPeriod time.Duration
}

// Lock returns the lock of a candidate that reports when it leads, under the name that is given, and does nothing else to
// the lock. It goes into the LeaderElectionConfig, or into controller-runtime's LeaderElectionResourceLockInterface:
//
//	config.Lock = obs.Lock("my-controller", config.Lock)
//
// All is taken from what passes the lock, so that it is exact by the candidate's own knowledge. It leads from the request
// that made it the holder. It has released the lock if it wrote so itself. It has lost it if it reads another holder, or
// none, or that the lock is gone, and also if the elector stops for any other cause, because it could not renew in time or
// must not release. A candidate that dies says nothing any more; one that hangs is no leader after the lease's duration.
//
// The name must be unique among the locks of a cluster, because alerts take all candidates of a program for the same lock in
// a cluster for one election: where a program is installed more than once, something like namespace/name does.
//
// Each candidate has a decorator of its own. Those with the same name share their series, which stay as long as the
// Observer. Of several options the last count. A nil lock remains nil, about which client-go complains.
func (o *Observer) Lock(name string, inner resourcelock.Interface, options ...LockOptions) resourcelock.Interface {
	if inner == nil {
		return nil
	}
	l := &lock{Interface: inner, obs: o, series: o.lockSeries(name), retry: cmp.Or(last(options).RetryPeriod, defaultRetryPeriod)}
	if decorated, ok := inner.(*lock); ok && decorated.series == l.series {
		l.Interface = decorated.Interface // so that nothing is counted twice
	}
	return l
}

const defaultRetryPeriod = 2 * time.Second

// stoppedLeading is the event that client-go's elector gives to the lock when it has stopped to lead, whatever the cause,
// and after it has released the lock if it does that.
const stoppedLeading = "stopped leading"

// lock decorates the lock of one candidate. What it does not override, Identity and Describe, is passed on.
type lock struct {
	resourcelock.Interface
	obs    *Observer
	series *lockSeries
	retry  time.Duration
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) || err == nil && record != nil && record.HolderIdentity != l.Identity() {
		l.series.end(l, catalog.LeaderLost)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	begin := l.obs.now()
	err := l.Interface.Create(ctx, record)
	l.written(record, begin, err)
	return err
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	begin := l.obs.now()
	renewal := l.series.writing(l, record.HolderIdentity == l.Identity(), begin)
	err := l.Interface.Update(ctx, record)
	if renewal {
		l.series.renewal(time.Duration(l.obs.now()-begin), l.retry, err)
	}
	l.written(record, begin, err)
	return err
}

// written takes note of a record that was to be written from begin on.
func (l *lock) written(record resourcelock.LeaderElectionRecord, begin int64, err error) {
	switch {
	case err != nil:
	case record.HolderIdentity == l.Identity():
		l.series.hold(l, begin, time.Duration(record.LeaseDurationSeconds)*time.Second)
	default:
		l.series.end(l, catalog.LeaderReleased)
	}
}

// RecordEvent implements resourcelock.Interface.
func (l *lock) RecordEvent(event string) {
	if event == stoppedLeading {
		l.series.end(l, catalog.LeaderLost)
	}
	l.Interface.RecordEvent(event)
}

// lockSeries are the series of all locks with the same name.
type lockSeries struct {
	name        string
	transitions map[string]prometheus.Counter
	renewals    map[string]prometheus.Observer
	slow        prometheus.Counter

	mu sync.Mutex
	// holders has those that lead, with the moment from which they do not know that they do: others may lead then.
	holders map[*lock]int64
	// renewed is when the request was sent that made or kept one of them the holder, 0 if there was none. What others know
	// is not older.
	renewed int64
}

// lockSeries returns the series of locks with the given name.
func (o *Observer) lockSeries(name string) *lockSeries {
	name = o.lockNames.Acquire(name)
	return o.locks.Acquire(name, func() *lockSeries {
		s := &lockSeries{
			name:        name,
			transitions: o.vecs.counterSet(catalog.ControllerLeaderTransitions, name),
			renewals:    map[string]prometheus.Observer{},
			slow:        o.vecs.counter(catalog.ControllerLeaderSlowRenewals, name),
			holders:     map[*lock]int64{},
		}
		for _, result := range catalog.LabelRenewResult.Values {
			s.renewals[result] = o.vecs.histogram(catalog.ControllerLeaderRenewDuration, name, result)
		}
		return s
	})
}

// hold takes note that a candidate is the holder by a request that was sent at begin.
func (s *lockSeries) hold(l *lock, begin int64, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.holders[l]; !held {
		s.transitions[catalog.LeaderAcquired].Inc()
	}
	s.holders[l] = begin + int64(lease)
	s.renewed = max(s.renewed, begin)
}

// end takes note that a candidate does not lead any more, if it did.
func (s *lockSeries) end(l *lock, event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.holders[l]; held {
		delete(s.holders, l)
		s.transitions[event].Inc()
	}
}

// writing takes note that a candidate is about to make itself the holder, or nobody, and tells whether that is a renewal.
// Whoever gives the lock up does not lead any more, whatever comes of it: another may lead before the answer is here.
func (s *lockSeries) writing(l *lock, itself bool, now int64) (renewal bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, held := s.holders[l]
	if held && !itself {
		s.holders[l] = now
	}
	return held && itself
}

// renewal counts a request to renew the lock.
func (s *lockSeries) renewal(took, retry time.Duration, err error) {
	result := catalog.RenewSuccess
	switch {
	case apierrors.IsConflict(err):
		result = catalog.RenewConflict
	case err != nil:
		result = catalog.RenewError
	}
	s.renewals[result].Observe(took.Seconds())
	if took > retry {
		s.slow.Inc()
	}
}

// collect sends what is read at the time of the scrape.
func (s *lockSeries) collect(o *Observer, ch chan<- prometheus.Metric) {
	s.mu.Lock()
	leader, now := 0.0, o.now()
	var renewed time.Time
	for _, until := range s.holders {
		if now < until {
			leader = 1
		}
	}
	if s.renewed != 0 {
		renewed = o.wall(s.renewed)
	}
	s.mu.Unlock()
	ch <- o.vecs.sample(catalog.ControllerLeader, leader, s.name)
	ch <- o.vecs.sample(catalog.ControllerLeaderLastRenew, unix(renewed), s.name)
}
