package queue

import (
	"fmt"
	"sync"
	"time"
)

const (
	// maxRetrying is the maximum number of items of one rate limiter that are remembered.
	maxRetrying = 10_000
	// retryMemory is how long an item is remembered after its last backoff. A worker may drop an item without a call of Forget.
	retryMemory = 30 * time.Minute
	// retryLogInterval is the minimum time between log lines about a controller's items.
	retryLogInterval = 10 * time.Minute
)

// retrying has the items that a rate limiter has delayed and not forgotten. An item without retries takes no lock.
type retrying[T comparable] struct {
	now func() int64

	mu    sync.Mutex
	items map[T]retries
}

// retries are the retries of one item.
type retries struct {
	n int
	// at is the time of the last retry, and after its backoff.
	at    int64
	after time.Duration
}

// expired reports whether the item should have been retried or forgotten long ago. The backoff may be infinite.
func (r retries) expired(now int64) bool { return now-r.at-int64(retryMemory) > int64(r.after) }

// add records the n-th retry of an item. If there is no room, it replaces an arbitrary item, unless that has as many retries: the
// item with the most is never replaced, and others are added with their next retry.
func (r *retrying[T]) add(item T, n int, after time.Duration) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.items[item]; !known && len(r.items) >= maxRetrying {
		for other, o := range r.items {
			if o.n >= n {
				return
			}
			delete(r.items, other)
			break
		}
	}
	if r.items == nil {
		r.items = map[T]retries{}
	}
	r.items[item] = retries{n, now, after}
}

func (r *retrying[T]) remove(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, item)
}

// highest implements limiterState. It removes items that have expired.
func (r *retrying[T]) highest() (n int) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for item, i := range r.items {
		if i.expired(now) {
			delete(r.items, item)
		} else {
			n = max(n, i.n)
		}
	}
	return n
}

// logRetries names an item above the objective in the log, because a label must not.
func (l *rateLimiter[T]) logRetries(item T, n int) {
	if n <= l.registry.Objectives.ItemRetries {
		return
	}
	now, last := l.registry.Now(), l.series.logged.Load()
	if last != 0 && now-last < int64(retryLogInterval) || !l.series.logged.CompareAndSwap(last, now) {
		return
	}
	// On a goroutine: a logger may block, and controller-runtime's priority queue holds its lock.
	go l.registry.Logger.Warn("item keeps being retried", "controller", l.name, "item", fmt.Sprint(item), "retries", n)
}
