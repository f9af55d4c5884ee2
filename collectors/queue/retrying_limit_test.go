package queue

import (
	"math"
	"testing"
	"time"
)

// The number of remembered items is limited. The item with the most retries is always among them.
func TestRetryingLimit(t *testing.T) {
	r := &retrying[int]{now: func() int64 { return 1 }}
	r.add(-1, 7, 0)
	for i := range maxRetrying - 1 {
		r.add(i, 1, 0)
	}
	for i := range 2 * maxRetrying {
		r.add(-2-i, 1+i%3, 0) // at most 3 retries
	}
	if n, items := r.highest(), len(r.items); n != 7 || items != maxRetrying {
		t.Errorf("%d items, the highest with %d retries; want %d and 7", items, n, maxRetrying)
	}
	r.remove(-1)
	r.add(-1, 7, 0)
	for i := range 100 { // an item with more retries finds room
		r.add(1_000_000+i, 8+i, 0)
	}
	if n, items := r.highest(), len(r.items); n != 107 || items != maxRetrying {
		t.Errorf("%d items, the highest with %d retries; want %d and 107", items, n, maxRetrying)
	}
}

// A limiter may return an infinite backoff.
func TestInfiniteBackoff(t *testing.T) {
	now := int64(1)
	r := &retrying[int]{now: func() int64 { return now }}
	r.add(1, 1, math.MaxInt64)
	now += int64(1000 * time.Hour)
	if n := r.highest(); n != 1 {
		t.Errorf("%d retries", n)
	}
}

// An item has been retried since its first retry. If the limiter has forgotten it without a Forget of the decorator, since it was retried
// again.
func TestFirstRetry(t *testing.T) {
	now := int64(0)
	r := &retrying[int]{now: func() int64 { return now }}
	for _, step := range []struct {
		n     int
		first int64
	}{{1, 1}, {2, 1}, {2, 3}, {3, 3}, {1, 5}, {1, 6}} {
		now++
		r.add(1, step.n, 0)
		if first := r.items[1].first; first != step.first {
			t.Errorf("at %d: retry %d, the first at %d, want %d", now, step.n, first, step.first)
		}
	}
}
