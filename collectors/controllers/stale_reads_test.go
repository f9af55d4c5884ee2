package controllers_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// storeVersion is a store that has reached a version.
type storeVersion string

func (v storeVersion) LastStoreSyncResourceVersion() string { return string(v) }

// at returns an object with the given version.
func at(version string) metav1.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}

// TestStaleReads covers P9: reads that are older than the controller's last write are stale, and no others.
func TestStaleReads(t *testing.T) {
	type step struct {
		does    string // wrote, read or forget
		version string
		stale   bool
	}
	wrote := func(version string) step { return step{"wrote", version, false} }
	read := func(version string, stale bool) step { return step{"read", version, stale} }
	forget := step{does: "forget"}
	const stale, fresh = true, false
	for name, steps := range map[string][]step{
		"nothing written":                 {read("1", fresh)},
		"older, then the same":            {wrote("10"), read("9", stale), read("9", stale), read("10", fresh)},
		"newer":                           {wrote("10"), read("11", fresh)},
		"by number, not by text":          {wrote("10"), read("9", stale), wrote("100"), read("20", stale), read("101", fresh)},
		"caught up once":                  {wrote("10"), read("10", fresh), read("9", fresh)},
		"two writes":                      {wrote("8"), wrote("10"), read("9", stale), read("10", fresh)},
		"two writes, out of order":        {wrote("10"), wrote("8"), read("9", stale), read("10", fresh)},
		"forgotten":                       {wrote("10"), forget, read("9", fresh)},
		"written version is not a number": {wrote("v11"), read("9", fresh), wrote("10"), wrote("v11"), read("9", stale)},
		"read version is not a number":    {wrote("10"), read("v9", fresh), read("", fresh), read("0", fresh), read("9", stale)},
	} {
		for _, how := range []string{"Stale", "Behind"} {
			t.Run(name+" by "+how, func(t *testing.T) {
				obs, reg := observertest.New(t)
				w := controllers.NewWrites[string](obs, "c")
				w.Wrote("other", at("1000")) // another key changes nothing
				counted := 0.0
				for i, s := range steps {
					got := false
					switch {
					case s.does == "wrote":
						w.Wrote("key", at(s.version))
					case s.does == "forget":
						w.Forget("key")
					case how == "Stale":
						got = w.Stale("key", at(s.version))
					default:
						got = w.Behind("key", storeVersion(s.version))
					}
					if got != s.stale {
						t.Errorf("step %d: stale is %t", i, got)
					}
					if s.stale {
						counted++
					}
				}
				metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{"controller_stale_reads_total{controller=c}": counted})
			})
		}
	}
}

// TestStaleReadsOfAnOwner: with the key of an owner, Behind is correct. Stale compares an object with a later write to
// another one, as documented.
func TestStaleReadsOfAnOwner(t *testing.T) {
	obs, _ := observertest.New(t)
	w := controllers.NewWrites[string](obs, "c")
	first, second := at("10"), at("20")
	w.Wrote("owner", first)
	w.Wrote("owner", second)
	if !w.Behind("owner", storeVersion("15")) {
		t.Error("a cache without the second object is not stale")
	}
	if !w.Stale("owner", first) {
		t.Error("Stale distinguishes objects of one owner: document it")
	}
	if w.Behind("owner", storeVersion("20")) || w.Stale("owner", first) {
		t.Error("a cache with both objects is stale")
	}
}

// TestStaleReadsOfNil: a nil object is neither a write nor stale.
func TestStaleReadsOfNil(t *testing.T) {
	obs, _ := observertest.New(t)
	w := controllers.NewWrites[string](obs, "c")
	for _, nothing := range []metav1.Object{nil, (*corev1.Pod)(nil)} {
		w.Wrote("key", nothing)
		w.Wrote("key", at("10"))
		if w.Stale("key", nothing) {
			t.Error("stale")
		}
		if !w.Stale("key", at("9")) {
			t.Error("the write is forgotten")
		}
	}
}

// TestStaleReadsEnd: a write that never arrives in the cache is forgotten.
func TestStaleReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		w := controllers.NewWrites[int](obs, "c")
		w.Wrote(1, at("10"))
		time.Sleep(controllers.MaxWriteAge)
		if !w.Stale(1, at("9")) {
			t.Error("forgotten too early")
		}
		time.Sleep(time.Second)
		if w.Stale(1, at("9")) || w.Remembered() != 0 {
			t.Errorf("a write that never arrived is still stale, with %d writes remembered", w.Remembered())
		}

		// An update that changes nothing returns the same version, and does not count as a later write.
		w.Wrote(1, at("10"))
		time.Sleep(controllers.MaxWriteAge)
		w.Wrote(1, at("10"))
		time.Sleep(time.Second)
		if w.Stale(1, at("9")) {
			t.Error("an update without a change keeps the write")
		}
	})
}

// TestStaleReadsAreBounded: beyond the limit, each new write replaces an older one.
func TestStaleReadsAreBounded(t *testing.T) {
	obs, _ := observertest.New(t)
	w := controllers.NewWrites[int](obs, "c")
	for i := range controllers.MaxWrites + 100 {
		w.Wrote(i, at("10"))
		if !w.Stale(i, at("9")) {
			t.Fatalf("write %d is not remembered", i)
		}
	}
	if w.Remembered() != controllers.MaxWrites {
		t.Errorf("%d writes are remembered", w.Remembered())
	}
}

func TestStaleReadsInParallel(t *testing.T) {
	obs, reg := observertest.New(t)
	w := controllers.NewWrites[string](obs, "c")
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			key := fmt.Sprint(i % 2)
			for n := range 200 {
				version := strconv.Itoa(n + 1)
				w.Wrote(key, at(version))
				w.Stale(key, at(version))
				metricstest.Take(t, reg)
				w.Forget(key)
			}
		})
	}
	workers.Wait()
	if w.Remembered() != 0 {
		t.Errorf("%d writes remain", w.Remembered())
	}
}
