package collectors

import (
	"runtime"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// RateLimiter decorates the rate limiter of a queue: the back-off that it gives to each retry, and the retries that an
// item has had when it is forgotten. NewQueue does so itself; this is for queues that are made elsewhere, such as
// controller-runtime's priority queue:
//
//	builder.WithOptions(controller.Options{RateLimiter: collectors.RateLimiter(obs, "deployments", limiter)})
//
// Each call of When is one of the inner limiter's, which may take a token for it. Decorators of one Observer with the same
// controller share their series. These are deleted when nothing refers to the decorator any more. It may be called
// concurrently, as every rate limiter, and does not allocate.
func RateLimiter[T comparable](obs *Observer, controller string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	s, leave := obs.joinLimiter(controller)
	l := &rateLimiter[T]{undecorated(limiter, obs, controller), s, obs, controller}
	runtime.AddCleanup(l, func(leave func()) { leave() }, leave)
	return l
}

// rateLimiter observes a rate limiter.
type rateLimiter[T comparable] struct {
	inner      workqueue.TypedRateLimiter[T]
	series     *limiterSeries
	obs        *Observer
	controller string
}

// undecorated returns a rate limiter without the decorator of the same controller, so that nothing is counted twice.
func undecorated[T comparable](limiter workqueue.TypedRateLimiter[T], obs *Observer, controller string) workqueue.TypedRateLimiter[T] {
	if l, ok := limiter.(*rateLimiter[T]); ok && l.obs == obs && l.controller == controller {
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
