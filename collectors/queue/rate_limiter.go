package queue

import (
	"runtime"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewTypedRateLimiter decorates the rate limiter of a queue. It reports the backoff of each retry, the number of retries of an
// item when it is forgotten, and the highest number of retries of any item until then. Items above the objective of 6 retries are
// named in the log, with at most one line per controller in a minute and one per item in ten. NewTypedRateLimitingQueue
// includes it. It is meant for queues that are created elsewhere, such as controller-runtime's priority queue:
//
//	builder.WithOptions(controller.Options{RateLimiter: queue.NewTypedRateLimiter(obs, "deployments", limiter)})
//
// When calls the inner limiter's When exactly once, because a call may take a token, and then NumRequeues. A limiter without
// NumRequeues of its own, such as a token bucket, has no number of retries. Decorators of one Observer with the same name share
// their series, which are deleted when the last of them becomes unreachable. A decorator is safe for concurrent use, like every
// rate limiter. It remembers up to 10,000 items between their first retry and Forget, for at most 30 minutes after their last
// backoff. An item without retries costs no lock and no memory.
func NewTypedRateLimiter[T comparable](obs *collectors.Observer, name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	r := registryOf(obs)
	tracked := &retrying[T]{now: r.Now}
	s, leave := r.joinLimiter(name, tracked)
	l := &rateLimiter[T]{undecorated(limiter, r, name), s, tracked, r, name}
	runtime.AddCleanup(l, func(leave func()) { leave() }, leave)
	return l
}

// rateLimiter observes a rate limiter.
type rateLimiter[T comparable] struct {
	inner    workqueue.TypedRateLimiter[T]
	series   *limiterSeries
	retrying *retrying[T]
	registry *registry
	name     string
}

// undecorated removes a decorator with the same series, so that nothing is counted twice.
func undecorated[T comparable](limiter workqueue.TypedRateLimiter[T], r *registry, name string) workqueue.TypedRateLimiter[T] {
	if l, ok := limiter.(*rateLimiter[T]); ok && l.registry == r && l.name == name {
		return l.inner
	}
	return limiter
}

// When implements workqueue.TypedRateLimiter.
func (l *rateLimiter[T]) When(item T) time.Duration {
	d := l.inner.When(item)
	l.series.backoff.Observe(d.Seconds())
	if n := l.inner.NumRequeues(item); n > 0 {
		l.retrying.add(item, n, d)
		l.logRetries(n)
	}
	return d
}

// Forget implements workqueue.TypedRateLimiter.
func (l *rateLimiter[T]) Forget(item T) {
	n := l.inner.NumRequeues(item)
	l.series.retries.Observe(float64(n))
	l.inner.Forget(item)
	if n > 0 {
		l.retrying.remove(item)
	}
}

// NumRequeues implements workqueue.TypedRateLimiter.
func (l *rateLimiter[T]) NumRequeues(item T) int { return l.inner.NumRequeues(item) }
