package objects

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Leases follows the Leases of one informer, which holds typed ones: it is that informer's event handler. A renewal costs
// the look-up of a name and the logarithm of the number of Leases, and no allocation.
type Leases struct {
	collector *Collector
	lag       func() time.Duration

	mu     sync.Mutex
	all    map[types.NamespacedName]*lease
	named  map[types.NamespacedName]*lease // those of all that have series of their own
	expiry timeline[*lease]                // those of all that somebody holds
	counts leaseCounts
	closed bool
}

// leaseCounts are numbers of Leases by purpose and state.
type leaseCounts map[leaseClass]int

type leaseClass struct {
	purpose string
	expired bool
}

var _ cache.ResourceEventHandler = (*Leases)(nil)

// Leases returns the event handler of an informer of Leases. lag tells by how much the informer trails the API server at
// the time of a scrape: what has not arrived yet does not expire a Lease. Nil: never. Several informers, such as one for
// each namespace, have a handler each. Close must be called when the informer has ended.
func (c *Collector) Leases(lag func() time.Duration) *Leases {
	if lag == nil {
		lag = func() time.Duration { return 0 }
	}
	l := &Leases{
		collector: c, lag: lag,
		all: map[types.NamespacedName]*lease{}, named: map[types.NamespacedName]*lease{}, counts: leaseCounts{},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leases[l] = struct{}{}
	return l
}

// Close forgets all Leases and their series. Events that are still on their way change nothing.
func (l *Leases) Close() {
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
func (l *Leases) OnAdd(obj any, _ bool) { l.see(obj) }

// OnUpdate implements cache.ResourceEventHandler. What there was before is known.
func (l *Leases) OnUpdate(_, obj any) { l.see(obj) }

// OnDelete implements cache.ResourceEventHandler.
func (l *Leases) OnDelete(obj any) {
	key, ok := keyOf(obj)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(key)
}

// see compares the state of a Lease with what is known of it. That there is one is no sign of life: when it was renewed,
// nobody can tell without trusting its holder's clock, and it may come from a backup.
func (l *Leases) see(obj any) {
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
		l.forget(key) // another one of the same name
		known = nil
	}
	first := known == nil
	if first {
		known = l.add(key, o)
	} else if known.record == recordOf(o) {
		return // something else has changed
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

func (l *Leases) add(key types.NamespacedName, o *coordinationv1.Lease) *lease {
	added := &lease{NamespacedName: key, uid: o.UID, purpose: purposeOf(o)}
	added.node = newNode(added)
	l.all[key] = added
	l.count(added, +1)
	if added.purpose == catalog.PurposeLeader {
		if name := l.collector.leaseNames.Acquire(key.String()); name != series.Other {
			l.named[key] = added
		}
	}
	return added
}

func (l *Leases) forget(key types.NamespacedName) {
	known := l.all[key]
	if known == nil {
		return
	}
	delete(l.all, key)
	l.expiry.take(known.node)
	l.count(known, -1)
	if l.named[key] != nil {
		delete(l.named, key)
		l.collector.leaseNames.Release(key.String())
	}
}

func (l *Leases) count(known *lease, n int) { l.counts[leaseClass{known.purpose, known.expired}] += n }

// expire finds out which Leases nobody has renewed in time, from those whose time ends first.
func (l *Leases) expire(now time.Time) {
	for first := l.expiry.first(); first != nil && !first.at.After(now); first = l.expiry.first() {
		l.expiry.take(first)
		l.count(first.value, -1)
		first.value.expired = true
		l.count(first.value, +1)
	}
}

// collect sends the series of the Leases that have some, and adds all of them to the counts.
func (l *Leases) collect(ch chan<- prometheus.Metric, counts leaseCounts) {
	now, lag := l.collector.clock.Now(), l.lag()
	l.mu.Lock()
	l.expire(now.Add(-lag))
	for class, n := range l.counts {
		counts[class] += n
	}
	named := make([]lease, 0, len(l.named))
	for _, known := range l.named {
		named = append(named, *known)
	}
	l.mu.Unlock()

	for i := range named {
		named[i].collect(ch)
	}
}
