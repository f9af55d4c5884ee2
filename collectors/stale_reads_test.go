package collectors

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// storeVersion is a cache that has reached a version.
type storeVersion string

func (v *storeVersion) LastStoreSyncResourceVersion() string { return string(*v) }

func at(uid types.UID, version string) metav1.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
}

// missing is what a lister returns for an object that it does not have.
func missing() metav1.Object { return (*corev1.Pod)(nil) }

// TestStaleReads covers P9: what is older than one's own last write is stale, and nothing else.
func TestStaleReads(t *testing.T) {
	type step struct {
		does string // wrote, read, forget, or reached for a version of the store
		obj  metav1.Object
		want bool
	}
	wrote := func(o metav1.Object) step { return step{"wrote", o, false} }
	read := func(o metav1.Object, stale bool) step { return step{"read", o, stale} }
	forget := step{does: "forget"}
	reached := func(version string) step { return step{"reached", at("", version), false} }
	const stale, fresh = true, false
	for name, steps := range map[string][]step{
		"nothing written":      {read(at("a", "1"), fresh)},
		"older, then the same": {wrote(at("a", "10")), read(at("a", "9"), stale), read(at("a", "9"), stale), read(at("a", "10"), fresh)},
		"newer":                {wrote(at("a", "10")), read(at("a", "11"), fresh)},
		"by number, not by text": {wrote(at("a", "10")), read(at("a", "9"), stale),
			wrote(at("a", "100")), read(at("a", "20"), stale), read(at("a", "101"), fresh)},
		"caught up once, for good":    {wrote(at("a", "10")), read(at("a", "10"), fresh), read(at("a", "9"), fresh)},
		"two writes, late in turn":    {wrote(at("a", "10")), wrote(at("a", "8")), read(at("a", "9"), stale)},
		"two writes":                  {wrote(at("a", "8")), wrote(at("a", "10")), read(at("a", "9"), stale)},
		"forgotten":                   {wrote(at("a", "10")), forget, read(at("a", "9"), fresh)},
		"created anew, the old read":  {wrote(at("a", "10")), wrote(at("b", "20")), read(at("a", "10"), stale), read(at("b", "20"), fresh)},
		"created anew by others":      {wrote(at("a", "10")), read(at("b", "20"), fresh), read(at("a", "9"), fresh)},
		"another object takes over":   {wrote(at("a", "10")), wrote(at("b", "5")), read(at("b", "5"), fresh)},
		"written is no number":        {wrote(at("a", "10")), wrote(at("a", "v11")), read(at("a", "9"), fresh)},
		"read is no number":           {wrote(at("a", "10")), read(at("a", "v9"), fresh), read(at("a", "9"), stale)},
		"nothing returned":            {wrote(missing()), wrote(nil), read(at("a", "1"), fresh)},
		"not there, and never was":    {read(missing(), fresh), read(nil, fresh)},
		"not there yet":               {reached("9"), wrote(at("a", "10")), read(missing(), stale), read(nil, stale), reached("10"), read(at("a", "10"), fresh)},
		"not there any more":          {reached("9"), wrote(at("a", "10")), reached("11"), read(missing(), stale), read(missing(), fresh)},
		"not there, and no version":   {wrote(at("a", "10")), read(missing(), fresh), read(at("a", "9"), stale)},
		"not there, strange versions": {reached("v1"), wrote(at("a", "10")), read(missing(), fresh), read(at("a", "9"), stale)},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := newObserver(t)
			version := new(storeVersion)
			w := NewWrites[string](obs, "c", WritesOptions{Store: version})
			w.Wrote("other", at("o", "1000")) // keys have nothing to do with one another
			counted := 0.0
			for i, s := range steps {
				switch s.does {
				case "wrote":
					w.Wrote("key", s.obj)
				case "forget":
					w.Forget("key")
				case "reached":
					*version = storeVersion(s.obj.GetResourceVersion())
				case "read":
					if got := w.Read("key", s.obj); got != s.want {
						t.Errorf("step %d: stale is %t", i, got)
					}
					if s.want {
						counted++
					}
				}
			}
			metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{"controller_stale_reads_total{controller=c}": counted})
			if len(w.writes) > 2 {
				t.Errorf("%d writes are remembered", len(w.writes))
			}
		})
	}
}

// TestStaleReadsWithoutAStore: whether an object is not there yet, or not any more, cannot be told.
func TestStaleReadsWithoutAStore(t *testing.T) {
	obs, _ := newObserver(t)
	w := NewWrites[string](obs, "c")
	w.Wrote("key", at("a", "10"))
	if w.Read("key", missing()) {
		t.Error("stale")
	}
	if !w.Read("key", at("a", "9")) {
		t.Error("the write is forgotten")
	}
}

// TestStaleReadsEnd: a cache that never shows a write does not keep a reconcile from its work for ever.
func TestStaleReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := newObserver(t)
		w := NewWrites[int](obs, "c")
		w.Wrote(1, at("a", "10"))
		time.Sleep(maxWriteAge)
		if !w.Read(1, at("a", "9")) {
			t.Error("forgotten too early")
		}
		time.Sleep(time.Second)
		if w.Read(1, at("a", "9")) || len(w.writes) != 0 {
			t.Errorf("stale for ever, with %d writes", len(w.writes))
		}
	})
}

// TestStaleReadsAreBounded: the newest writes are kept, and of the others as many as there is room for.
func TestStaleReadsAreBounded(t *testing.T) {
	obs, _ := newObserver(t)
	w := NewWrites[int](obs, "c")
	for i := range maxWrites + 100 {
		w.Wrote(i, at("a", "10"))
		if !w.Read(i, at("a", "9")) {
			t.Fatalf("write %d is not remembered", i)
		}
	}
	if len(w.writes) != maxWrites {
		t.Errorf("%d writes are remembered", len(w.writes))
	}
}

func TestStaleReadsInParallel(t *testing.T) {
	obs, reg := newObserver(t)
	w := NewWrites[string](obs, "c")
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			key := fmt.Sprint(i % 2)
			for n := range 200 {
				version := strconv.Itoa(n + 1)
				w.Wrote(key, at("a", version))
				w.Read(key, at("a", version))
				metricstest.Take(t, reg)
				w.Forget(key)
			}
		})
	}
	workers.Wait()
	if len(w.writes) != 0 {
		t.Errorf("%d writes are left", len(w.writes))
	}
}
