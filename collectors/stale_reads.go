package collectors

import (
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

const (
	// maxWrites is how many writes one Writes remembers, at about 120 bytes each and their keys.
	maxWrites = 10_000
	// maxWriteAge is for how long a write is expected to show up. A reconcile that puts off its work while reads are stale
	// must not do so for ever: objects leave the selectors of a cache, and versions fall when etcd is restored.
	maxWriteAge = 10 * time.Minute
)

// WritesOptions say more about what is read. The zero value is useful.
type WritesOptions struct {
	// Store is the cache that is read, such as informer.GetStore(). With it, an object that was written and that the cache
	// does not have is recognized as not there yet, or not any more: by the version that the store has reached, which
	// client-go's have unless its feature AtomicFIFO is off. Without it such a read is never stale.
	Store interface{ LastStoreSyncResourceVersion() string }
}

// Writes tells a reconcile whether the cache already has what the controller itself has written, and counts the reads for
// which it has not, in controller_stale_reads_total. A reconcile that acts on a read from before its own last write does
// things twice: it creates a second Pod, or undoes its own update. Kubernetes' own controllers guard against it the same
// way (KEP-5647), by comparing resourceVersions.
//
// One Writes is for the objects of one resource, since only their versions can be compared, and for one controller. K is
// whatever identifies an object, mostly its key. In a reconcile:
//
//	pod, err := lister.Pods(namespace).Get(name)
//	if writes.Read(key, pod) {
//		return errStale // to come back: as an error, or with AddAfter or RequeueAfter
//	}
//	...
//	pod, err = client.Pods(namespace).Update(ctx, changed, metav1.UpdateOptions{})
//	if err == nil {
//		writes.Wrote(key, pod)
//	}
//
// A write is remembered until a read has caught up with it, but for 10 minutes at most; of more than 10,000 any is
// dropped. Reads after that are not stale, as without Writes. All methods are safe for concurrent use and take some
// 100 ns; only Wrote allocates, for keys that are new to it.
type Writes[K comparable] struct {
	obs   *Observer
	store interface{ LastStoreSyncResourceVersion() string }
	stale prometheus.Counter

	mu     sync.Mutex
	writes map[K]write
}

// write is the last version of an object that the controller has written.
type write struct {
	uid     types.UID
	version uint64
	at      int64
}

// NewWrites returns a Writes for a controller. Its series lives as long as the Observer, see ForgetController. Several of
// one controller, for several resources, are counted as one. Of several options the last count.
func NewWrites[K comparable](obs *Observer, controller string, options ...WritesOptions) *Writes[K] {
	return &Writes[K]{
		obs:    obs,
		store:  last(options).Store,
		stale:  obs.staleReads(controller).count,
		writes: map[K]write{},
	}
}

// Wrote remembers an object as the API server has returned it from a create, an update or a patch. Older versions of the
// same object change nothing; another object under the key takes its place. Versions that are no numbers cannot be
// compared, and reads of such objects are never stale.
func (w *Writes[K]) Wrote(key K, obj metav1.Object) {
	if isNil(obj) {
		return
	}
	version, numeric := rv.Parse(obj.GetResourceVersion())
	uid := obj.GetUID()
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.writes[key]
	switch {
	case !numeric:
		delete(w.writes, key)
		return
	case ok && known.uid == uid && known.version >= version:
		return
	case !ok && len(w.writes) >= maxWrites:
		for other := range w.writes {
			delete(w.writes, other)
			break
		}
	}
	w.writes[key] = write{uid, version, w.obs.now()}
}

// Read tells whether an object from the cache is older than what was last written under its key, and counts it if so.
// With an object that was there before one of the same name was created, this is so too. Give it a nil pointer, as a
// lister returns it, for an object that the cache does not have: see WritesOptions.Store. Such a read may have come
// before the cache caught up even if it has by now, and is called stale once more in order to be repeated.
func (w *Writes[K]) Read(key K, obj metav1.Object) (stale bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.writes[key]
	if !ok {
		return false
	}
	if w.obs.now()-known.at > int64(maxWriteAge) {
		delete(w.writes, key)
		return false
	}
	missing := isNil(obj)
	version, numeric := w.version(obj, missing)
	if !numeric {
		return false
	}
	caughtUp := version >= known.version
	if caughtUp {
		delete(w.writes, key)
	}
	if caughtUp && !missing {
		return false
	}
	w.stale.Inc()
	return true
}

// version returns the version of an object, or the one that the cache has reached without it.
func (w *Writes[K]) version(obj metav1.Object, missing bool) (version uint64, numeric bool) {
	switch {
	case !missing:
		return rv.Parse(obj.GetResourceVersion())
	case w.store != nil:
		return rv.Parse(w.store.LastStoreSyncResourceVersion())
	}
	return 0, false
}

// Forget drops what was written under a key, as is due when the controller has deleted the object.
func (w *Writes[K]) Forget(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.writes, key)
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
