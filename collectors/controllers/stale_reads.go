package controllers

import (
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

const (
	// maxWrites is the maximum number of writes that one Writes remembers, at about 50 bytes each plus the key.
	maxWrites = 10_000
	// maxWriteAge is how long a write is remembered. A reconcile that waits while the cache is stale must not wait forever:
	// objects leave the selector of a cache, and versions go backwards when etcd is restored.
	maxWriteAge = 10 * time.Minute
)

// Writes records the writes of a controller and detects reads from a cache that does not have them yet, which
// controller_stale_reads_total counts. A reconcile that acts on such a read repeats its work: it creates a second Pod, or undoes
// its own update. Kubernetes' own controllers compare resource versions in the same way (KEP-5647).
//
// Writes is experimental: client-go 0.38 has the same in util/consistency, as alpha, and controller-runtime 0.25 makes reads wait instead
// (EnableReadYourWritesConsistency). Once client-go's is beta, a decorator of it reports controller_stale_reads_total, and Writes is
// deprecated. It is not part of v1.0.0.
//
// Use one Writes per controller and resource, because only versions of one resource can be compared. K identifies an
// object, or the owner of several objects, and is usually a key. In a reconcile:
//
//	if writes.Behind(key, informer.GetStore()) {
//		return errStale // retry: with an error, AddAfter or RequeueAfter
//	}
//	pod, err := lister.Pods(namespace).Get(name)
//	...
//	pod, err = client.Pods(namespace).Update(ctx, changed, metav1.UpdateOptions{})
//	if err == nil {
//		writes.Wrote(key, pod)
//	}
//
// Behind compares the version of the store, and is therefore also correct for missing objects and for lists. If only an
// object is available, as with controller-runtime's client, use Stale, with keys of single objects.
//
// A write is forgotten when Behind or Stale has returned false for it, and after 10 minutes. Beyond 10,000 writes, an
// arbitrary one is forgotten. Reads that miss a forgotten write are not detected. Versions that are not numbers cannot be
// compared and are never stale. All methods are safe for concurrent use and take about 100 ns. Only Wrote allocates, for
// new keys.
type Writes[K comparable] struct {
	registry *registry
	stale    staleReads

	mu     sync.Mutex
	writes map[K]write
}

// write is the last version that the controller has written.
type write struct {
	version uint64
	at      int64
}

// NewWrites returns a Writes of a controller. Those of one Observer and controller share a series, which exists until Forget.
func NewWrites[K comparable](obs *collectors.Observer, controller string) *Writes[K] {
	r := registryOf(obs)
	stale := seriesOf(r, func(scope *core.Scope) staleReads { return staleReads{scope.Counter(catalog.ControllerStaleReads)} }, controller)
	return &Writes[K]{registry: r, stale: stale, writes: map[K]write{}}
}

// Wrote records an object that the API server has returned from a create, an update or a patch. Of several writes with the
// same key, the one with the highest version is kept.
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
	w.writes[key] = write{version, w.registry.Now()}
}

// Behind reports whether a cache has not reached the last write with the given key, and counts a stale read if so. Call it
// before reading the cache, which may catch up at any time. The cache is a Store or an Indexer of client-go. With client-go's
// feature AtomicFIFO disabled, a store does not know its version and is never behind.
func (w *Writes[K]) Behind(key K, store interface{ LastStoreSyncResourceVersion() string }) bool {
	return w.older(key, store.LastStoreSyncResourceVersion())
}

// Stale reports whether an object from the cache is older than the last write with its key, and counts a stale read if so.
// That includes a predecessor with the same name. A nil object is never stale: it may not have arrived yet, or may have been
// deleted. With the key of an owner, use Behind, because Stale would compare the object with a write to another one.
func (w *Writes[K]) Stale(key K, obj metav1.Object) bool {
	return !isNil(obj) && w.older(key, obj.GetResourceVersion())
}

// Forget removes the write with the given key. Call it when the controller has deleted the object.
func (w *Writes[K]) Forget(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.writes, key)
}

// older reports whether a version is older than the last write with the given key, and forgets the write if not.
func (w *Writes[K]) older(key K, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, ok := w.writes[key]
	if !ok {
		return false
	}
	read, ok := rv.Parse(version)
	switch {
	case w.registry.Now()-known.at > int64(maxWriteAge), ok && read >= known.version:
		delete(w.writes, key)
		return false
	case !ok:
		return false
	}
	w.stale.Inc()
	return true
}

// isNil reports whether obj is nil or a nil pointer.
func isNil(obj metav1.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// staleReads is the series of a controller's Writes.
type staleReads struct{ prometheus.Counter }
