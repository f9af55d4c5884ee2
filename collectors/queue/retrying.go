package queue

import (
	"maps"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

const (
	// maxRetrying is the maximum number of items of one rate limiter that are remembered.
	maxRetrying = 10_000
	// retryMemory is how long an item is remembered after its last backoff. A worker may drop an item without a call of Forget.
	retryMemory = 30 * time.Minute
	// retryLogInterval is the minimum time between log lines about a controller's items, and retryLogRepeat between those about one
	// item.
	retryLogInterval, retryLogRepeat = time.Minute, 10 * time.Minute
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
	// first and at are the times of the first and of the last retry, and after is the backoff of the last.
	first, at int64
	after     time.Duration
	// logged is when the item was last named in the log, 0 if it was not.
	logged int64
}

// expired reports whether the item should have been retried or forgotten long ago. The backoff may be infinite.
func (r retries) expired(now int64) bool { return now-r.at-int64(retryMemory) > int64(r.after) }

// add records the n-th retry of an item. If there is no room, it replaces an arbitrary item, unless that has as many retries: the
// item with the most is never replaced, and others are added with their next retry.
func (r *retrying[T]) add(item T, n int, after time.Duration) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.items[item]
	if !known && len(r.items) >= maxRetrying {
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
	if n <= last.n || !known { // the limiter has forgotten the item
		last.first = now
	}
	r.items[item] = retries{n, last.first, now, after, last.logged}
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

// find implements limiterState.
func (r *retrying[T]) find(o *core.Observer, matches func(name string) bool) []inspection.Item {
	now := r.now()
	r.mu.Lock()
	known := maps.Clone(r.items)
	r.mu.Unlock()
	var items []inspection.Item
	for item, i := range known {
		if name := inspection.Name(item); !i.expired(now) && matches(name) {
			items = append(items, i.describe(o, name, now))
		}
	}
	return items
}

func (r retries) describe(o *core.Observer, name string, now int64) inspection.Item {
	remaining := time.Duration(max(0, int64(r.after)-(now-r.at)))
	d := inspection.Item{
		Item: name, Retries: r.n, FirstRetry: o.Wall(r.first).UTC(), LastRetry: o.Wall(r.at).UTC(),
		AgeSeconds: time.Duration(now - r.first).Seconds(), BackoffSeconds: remaining.Seconds(),
	}
	if remaining > 0 {
		until := o.Wall(now).Add(remaining).UTC()
		d.BackoffUntil = &until
	}
	return d
}

// nameNext returns the item to name in the log, and its retries: the one with the most that was not named recently. An item that
// should have been retried a while ago was dropped without a call of Forget.
func (r *retrying[T]) nameNext(above int) (next T, n int) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for item, i := range r.items {
		dropped := now-i.at-int64(retryLogInterval) > int64(i.after)
		if i.n > max(n, above) && !dropped && (i.logged == 0 || now-i.logged >= int64(retryLogRepeat)) {
			next, n = item, i.n
		}
	}
	if n > 0 {
		i := r.items[next]
		i.logged = now
		r.items[next] = i
	}
	return next, n
}

// logRetries names an item above the objective in the log, because a label must not. It need not be the given one: when many items
// failed for a moment, the one that keeps failing has the most retries a minute later.
func (l *rateLimiter[T]) logRetries(n int) {
	objective := l.registry.Objectives.ItemRetries
	if n <= objective {
		return
	}
	now, last := l.registry.Now(), l.series.logged.Load()
	if last != 0 && now-last < int64(retryLogInterval) || !l.series.logged.CompareAndSwap(last, now) {
		return
	}
	// On a goroutine: a logger may block, and controller-runtime's priority queue holds its lock.
	go func() {
		if item, n := l.retrying.nameNext(objective); n > 0 {
			l.registry.Logger.Warn("item keeps being retried", "controller", l.name, "item", inspection.Name(item), "retries", n)
		}
	}()
}
