package echo

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/recent"
)

// Watches are the Watches of an Observer's informers by resource. All methods are safe for concurrent use.
type Watches struct {
	obs        *core.Observer
	deliveries deliveries
	// reported is set if transports of the program report writes.
	reported atomic.Bool

	mu sync.RWMutex
	of map[schema.GroupResource][]watched
	// last are the last writes by object.
	last recent.Table[LastWrite]
	// written are the resources with series, by the value of the label resource. Series exist as long as the Observer.
	written map[schema.GroupResource]string
	// writers are controllers by name.
	writers map[string]*Writer
}

// watched is a Watch and its only namespace, empty for all.
type watched struct {
	*Watch
	namespace string
}

var _ core.Part = &Watches{}

// Of returns the Watches of an Observer.
func Of(o *core.Observer) *Watches {
	return core.PartOf(o, func(o *core.Observer) *Watches {
		return &Watches{
			obs: o, deliveries: deliveries{handlers: map[uint64]*Handler{}},
			of: map[schema.GroupResource][]watched{}, written: map[schema.GroupResource]string{}, writers: map[string]*Writer{},
		}
	})
}

// Add adds the Watch of an informer of a resource in one namespace, or in all if that is empty.
func (r *Watches) Add(resource schema.GroupResource, namespace string, w *Watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[resource] = append(slices.Clip(r.of[resource]), watched{w, namespace})
}

// Remove removes a Watch of a resource. A nil Watch is ignored.
func (r *Watches) Remove(resource schema.GroupResource, w *Watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(r.of[resource]), func(other watched) bool { return other.Watch == w })
	if len(rest) == 0 {
		delete(r.of, resource)
		return
	}
	r.of[resource] = rest
}

// Write is a write of the program.
type Write struct {
	// Group, Resource, Namespace and Name are those of the object. The namespace is empty if it has none. They may be substrings of a
	// URL. Without a name, the write is not found by LastWrite.
	Group, Resource, Namespace, Name string
	// Label is the value of the label resource.
	Label string
	// Version is the resourceVersion in the response.
	Version uint64
	// Sent and Answered are when the request was sent and when its response arrived.
	Sent, Answered int64
	// By is nil if the write is no controller's.
	By *Writer
}

// Watched reports whether an informer watches a resource.
func (r *Watches) Watched(group, resource string) bool {
	return len(r.watches(group, resource)) > 0
}

// watches returns the watches of a resource. The result is never changed, only replaced.
func (r *Watches) watches(group, resource string) []watched {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of[schema.GroupResource{Group: group, Resource: resource}]
}

// LastWrite is the last write of an object.
type LastWrite struct {
	// Version is the resourceVersion in the response, which arrived at Answered.
	Version  uint64
	Answered int64
}

// LastWrite returns the program's last write of an object, if it is remembered.
func (r *Watches) LastWrite(resource schema.GroupResource, namespace, name string) (LastWrite, bool) {
	return r.last.Get(recent.Key(resource.Group, resource.Resource, namespace, name))
}

// Wrote records a write. It does not allocate after the first write to a resource and to an object.
func (r *Watches) Wrote(w *Write) {
	if w.Name != "" {
		r.last.Swap(recent.Key(w.Group, w.Resource, w.Namespace, w.Name), LastWrite{w.Version, w.Answered})
	}
	for _, watch := range r.watches(w.Group, w.Resource) {
		if watch.namespace == "" || watch.namespace == w.Namespace {
			watch.wrote(w, r)
		}
	}
}

// observer returns the series of a resource.
func (r *Watches) observer(w *Write) prometheus.Observer {
	r.mu.Lock()
	defer r.mu.Unlock()
	for resource := range r.of { // its strings, because those of the URL would stay in memory
		if resource.Group == w.Group && resource.Resource == w.Resource {
			r.written[resource] = w.Label
		}
	}
	return r.obs.Metrics.Histogram(catalog.ClientWriteEcho, w.Label)
}

// Collect implements core.Part. It sends the gauges of resources that were written while they were watched.
func (r *Watches) Collect(ch chan<- prometheus.Metric) {
	type pending struct {
		n      int
		oldest int64
	}
	all := map[string]pending{} // resources beyond the limit share a label
	r.mu.RLock()
	for resource, label := range r.written {
		p := all[label]
		for _, w := range r.of[resource] {
			n, oldest := w.waiting()
			p.n += n
			if oldest != 0 && (p.oldest == 0 || oldest < p.oldest) {
				p.oldest = oldest
			}
		}
		all[label] = p
	}
	r.mu.RUnlock()
	now := r.obs.Now()
	for label, p := range all {
		age := 0.0
		if p.oldest != 0 {
			age = core.Seconds(now - p.oldest)
		}
		r.obs.Metrics.SendGauge(ch, catalog.ClientWritesWithoutEcho, float64(p.n), label)
		r.obs.Metrics.SendGauge(ch, catalog.ClientOldestWriteWithoutEcho, age, label)
	}
}
