package objects

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// LeaseHandler is the event handler of one informer of typed Leases. A renewal costs a lookup by name and an operation on a heap of
// all Leases, and no allocation.
type LeaseHandler struct {
	collector *Collector
	lag       func() time.Duration

	mu     sync.Mutex
	all    map[types.NamespacedName]*lease
	expiry timeline[*lease] // those that will expire
	counts leaseCounts
	closed bool
}

// leaseCounts counts Leases by purpose and state.
type leaseCounts map[leaseClass]int

type leaseClass struct {
	purpose string
	expired bool
}

var _ cache.ResourceEventHandler = (*LeaseHandler)(nil)

// NewLeaseHandler returns the event handler of an informer of Leases. lag returns the current sync lag of the informer, so that a
// Lease does not count as expired while its renewal has not arrived; nil means no lag. Each informer needs its own handler. Close
// must be called after the informer has stopped.
func (c *Collector) NewLeaseHandler(lag func() time.Duration) *LeaseHandler {
	if lag == nil {
		lag = func() time.Duration { return 0 }
	}
	l := &LeaseHandler{
		collector: c, lag: lag,
		all: map[types.NamespacedName]*lease{}, counts: leaseCounts{},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leases[l] = struct{}{}
	return l
}

// Close removes all Leases and their series. Later events have no effect.
func (l *LeaseHandler) Close() {
	l.collector.mu.Lock()
	delete(l.collector.leases, l)
	l.collector.mu.Unlock()

	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for key := range l.all {
		l.forget(key)
	}
}

// OnAdd implements cache.ResourceEventHandler.
func (l *LeaseHandler) OnAdd(obj any, isInInitialList bool) { l.see(obj, isInInitialList) }

// OnUpdate implements cache.ResourceEventHandler.
func (l *LeaseHandler) OnUpdate(_, obj any) { l.see(obj, false) }

// OnDelete implements cache.ResourceEventHandler.
func (l *LeaseHandler) OnDelete(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(key)
}

// see updates the state of a Lease. The first event of a Lease is not a renewal: the time of the last renewal is known only by
// the clock of its holder, and the Lease may come from a backup.
func (l *LeaseHandler) see(obj any, initial bool) {
	o, ok := obj.(*coordinationv1.Lease)
	if !ok {
		return
	}
	key, now := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, l.collector.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	known := l.all[key]
	if known != nil && known.uid != o.UID {
		l.forget(key) // a new Lease of the same name
		known = nil
	}
	first := known == nil
	if first {
		known = l.add(key, o)
		known.initial = initial
	} else if known.record == recordOf(o) {
		return // not a renewal
	}
	l.count(known, -1)
	known.record, known.expired = recordOf(o), false
	l.count(known, +1)
	if known.holder != "" && !first {
		known.renewed = now
	}
	if expires, ok := known.expires(now); ok {
		l.expiry.put(known.node, expires)
	} else {
		l.expiry.take(known.node)
	}
}

func (l *LeaseHandler) add(key types.NamespacedName, o *coordinationv1.Lease) *lease {
	added := &lease{NamespacedName: key, handler: l, uid: o.UID, purpose: purposeOf(o)}
	added.node = newNode(added)
	l.all[key] = added
	l.count(added, +1)
	if added.purpose == purposeLeader {
		l.collector.leaseNames.add(added)
	}
	return added
}

func (l *LeaseHandler) forget(key types.NamespacedName) {
	known := l.all[key]
	if known == nil {
		return
	}
	delete(l.all, key)
	l.expiry.take(known.node)
	l.count(known, -1)
	if known.purpose == purposeLeader {
		l.collector.leaseNames.remove(known)
	}
}

func (l *LeaseHandler) count(known *lease, n int) {
	l.counts[leaseClass{known.purpose, known.expired}] += n
}

// expire marks Leases that were not renewed in time.
func (l *LeaseHandler) expire(now time.Time) {
	for first := l.expiry.first(); first != nil && !first.at.After(now); first = l.expiry.first() {
		l.expiry.take(first)
		l.count(first.value, -1)
		first.value.expired = true
		l.count(first.value, +1)
	}
}

// collect sends the series of Leases that have their own, and adds all Leases to the counts.
func (l *LeaseHandler) collect(ch chan<- prometheus.Metric, counts leaseCounts) {
	now, lag := l.collector.clock.Now(), l.lag()
	l.mu.Lock()
	l.expire(now.Add(-lag))
	for class, n := range l.counts {
		counts[class] += n
	}
	chosen := l.collector.leaseNames.of(l, now)
	named := make([]lease, 0, len(chosen))
	for _, known := range chosen {
		named = append(named, *known)
	}
	l.mu.Unlock()

	for i := range named {
		named[i].collect(ch)
	}
}
