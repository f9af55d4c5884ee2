package series_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

func TestPoolSharesAndDrops(t *testing.T) {
	var pool series.Pool[string, *int]
	made, dropped := 0, 0
	acquire := func(key string) *int {
		return pool.Acquire(key, func() *int { made++; return new(int) })
	}
	release := func(key string) { pool.Release(key, func(*int) { dropped++ }) }

	first := acquire("a")
	if acquire("a") != first {
		t.Error("two users of one key do not share")
	}
	if acquire("b") == first {
		t.Error("two keys share")
	}
	if made != 2 || len(pool.Values()) != 2 || !slices.Contains(pool.Values(), first) {
		t.Errorf("%d were made, %d are held, want 2 of each", made, len(pool.Values()))
	}
	release("a")
	if dropped != 0 {
		t.Error("dropped while in use")
	}
	release("a")
	release("a") // one time too many
	if dropped != 1 || len(pool.Values()) != 1 {
		t.Errorf("%d were dropped and %d are held, want 1 of each", dropped, len(pool.Values()))
	}
	if acquire("a") == first {
		t.Error("a successor got the dropped value")
	}
}

func TestPoolInParallel(t *testing.T) {
	var (
		pool    series.Pool[int, *int]
		workers sync.WaitGroup
		held    int // guarded by the pool
	)
	for range 8 {
		workers.Go(func() {
			for range 1000 {
				pool.Acquire(0, func() *int { held++; return &held })
				pool.Release(0, func(h *int) { *h-- })
			}
		})
	}
	workers.Wait()
	if held != 0 || len(pool.Values()) != 0 {
		t.Errorf("%d remain, and %d are held", held, len(pool.Values()))
	}
}
