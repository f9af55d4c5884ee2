package queue

import (
	"runtime"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewTypedRateLimiter decorates the rate limiter of a queue. It reports the backoff of each retry, and the number of retries of
// an item when it is forgotten. NewTypedRateLimitingQueue includes it. It is meant for queues that are created elsewhere, such
// as controller-runtime's priority queue:
//
//	builder.WithOptions(controller.Options{RateLimiter: queue.NewTypedRateLimiter(obs, "deployments", limiter)})
//
// When calls the inner limiter's When exactly once, because a call may take a token. Decorators of one Observer with the
// same name share their series, which are deleted when the last of them becomes unreachable. A decorator is safe for
// concurrent use, like every rate limiter, and does not allocate.
func NewTypedRateLimiter[T comparable](obs *collectors.Observer, name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	r := registryOf(obs)
	s, leave := r.joinLimiter(name)
	l := &rateLimiter[T]{undecorated(limiter, r, name), s, r, name}
	runtime.AddCleanup(l, func(leave func()) { leave() }, leave)
	return l
}

// rateLimiter observes a rate limiter.
type rateLimiter[T comparable] struct {
	inner    workqueue.TypedRateLimiter[T]
	series   *limiterSeries
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
	return d
}

// Forget implements workqueue.TypedRateLimiter.
func (l *rateLimiter[T]) Forget(item T) {
	l.series.retries.Observe(float64(l.inner.NumRequeues(item)))
	l.inner.Forget(item)
}

// NumRequeues implements workqueue.TypedRateLimiter.
func (l *rateLimiter[T]) NumRequeues(item T) int { return l.inner.NumRequeues(item) }
