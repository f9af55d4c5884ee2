// Package queue observes work queues and rate limiters of client-go: coalesced adds, delayed items, the age of the oldest item,
// running workers, backoff, retries and dropped items. A Queue behaves like client-go's.
//
//	q := queue.NewTypedRateLimitingQueue(obs, "deployments",
//		workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
//
// For a queue that another library creates, decorate its rate limiter with NewTypedRateLimiter, call a Tracker around Add, Get and
// Done, and let NewMetricsProvider report client-go's own metrics.
package queue
