package collectors

import (
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

const (
	// maxWrites is how many writes one Writes remembers, at about 50 bytes each and their keys.
	maxWrites = 10_000
	// maxWriteAge is for how long a write is expected to show up. A reconcile that puts off its work while reads are stale
	// must not do so for ever: objects leave the selectors of a cache, and versions fall when etcd is restored.
	maxWriteAge = 10 * time.Minute
)

// Writes tells a reconcile whether the cache already has what the controller itself has written, and counts it in
// controller_stale_reads_total if not. A reconcile that acts on a read from before its own last write does things twice:
// it creates a second Pod, or undoes its own update. Kubernetes' own controllers guard against it the same way
// (KEP-5647), by comparing resourceVersions.
//
// One Writes is for the objects of one resource, since only their versions can be compared, and for one controller. K is
// what identifies an object, or the owner of several: mostly a key. In a reconcile:
//
//	if writes.Behind(key, informer.GetStore()) {
//		return errStale // to come back: as an error, or with AddAfter or RequeueAfter
//	}
//	pod, err := lister.Pods(namespace).Get(name)
//	...
//	pod, err = client.Pods(namespace).Update(ctx, changed, metav1.UpdateOptions{})
//	if err == nil {
//		writes.Wrote(key, pod)
//	}
//
// Behind knows of objects that are not there, and of lists, but needs the store. Where only an object is at hand, as with
// the client of controller-runtime, Read compares that; it is for keys of one object, not for those of owners.
//
// A write is remembered until Behind or Read has seen the cache catch up with it, but for 10 minutes at most; of more than
// 10,000 any is dropped. After that nothing is stale, as without Writes. Versions that are no numbers cannot be compared,
// and are never stale. All methods are safe for concurrent use and take some 100 ns; only Wrote allocates, for keys that
// are new to it.
type Writes[K comparable] struct {
	obs   *Observer
	stale prometheus.Counter

	mu     sync.Mutex
	writes map[K]write
}

// write is the last version that the controller has written.
type write struct {
	version uint64
	at      int64
}

// NewWrites returns a Writes for a controller. Its series lives as long as the Observer, see ForgetController. Several of
// one controller, for several resources, are counted as one.
func NewWrites[K comparable](obs *Observer, controller string) *Writes[K] {
	return &Writes[K]{obs: obs, stale: obs.staleReads(controller).count, writes: map[K]write{}}
}

// Wrote remembers an object as the API server has returned it from a create, an update or a patch. Of several writes
// under a key the one with the highest version counts, also if they are of several objects: an object that takes the
// place of another one has the higher version.
func (w *Writes[K]) Wrote(key K, obj metav1.Object) {
	if isNil(obj) {
		return
	}
	version, ok := rv.Parse(obj.GetResourceVersion())
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.writes[key]
	if ok && known.version >= version {
		return
	}
	if !ok && len(w.writes) >= maxWrites {
		for other := range w.writes {
			delete(w.writes, other)
			break
		}
	}
	w.writes[key] = write{version, w.obs.now()}
}

// Behind tells whether a cache has not reached what was last written under a key, and counts it if so. It is to be asked
// before the cache is read, which may catch up at any time. The cache is a Store or an Indexer of client-go, which knows
// its version unless client-go's feature AtomicFIFO is off: then nothing is stale.
func (w *Writes[K]) Behind(key K, store interface{ LastStoreSyncResourceVersion() string }) (stale bool) {
	return w.older(key, store.LastStoreSyncResourceVersion())
}

// Read tells whether an object from the cache is older than what was last written under its key, and counts it if so:
// also if it is an object that was there before another one of the same name was created. Of an object that the cache
// does not have, a nil pointer, nobody can tell whether it is not there yet or not any more: that is not stale. With the
// key of an owner use Behind: Read would take an object for stale because another one has been written since.
func (w *Writes[K]) Read(key K, obj metav1.Object) (stale bool) {
	return !isNil(obj) && w.older(key, obj.GetResourceVersion())
}

// Forget drops what was written under a key, as is due when the controller has deleted the object.
func (w *Writes[K]) Forget(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.writes, key)
}

// older tells whether a version is older than what was written under a key, and forgets that if not.
func (w *Writes[K]) older(key K, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.writes[key]
	if !ok {
		return false
	}
	read, ok := rv.Parse(version)
	switch {
	case w.obs.now()-known.at > int64(maxWriteAge), ok && read >= known.version:
		delete(w.writes, key)
		return false
	case !ok:
		return false
	}
	w.stale.Inc()
	return true
}

// isNil tells whether there is no object: nil, or a pointer that is.
func isNil(obj metav1.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// staleReads is the series of a controller's Writes.
type staleReads struct {
	vecs   *vecs
	labels []string
	count  prometheus.Counter
}

var _ controllerSeries = &staleReads{}

func (o *Observer) staleReads(controller string) *staleReads {
	return controllerSeriesFor(o, func(labels ...string) *staleReads {
		return &staleReads{o.vecs, labels, o.vecs.counter(catalog.ControllerStaleReads, labels...)}
	}, controller)
}

func (s *staleReads) collect(chan<- prometheus.Metric) {}

func (s *staleReads) forget() { s.vecs.forget(catalog.ControllerStaleReads, s.labels...) }
