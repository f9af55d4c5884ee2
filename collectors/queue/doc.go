// Package queue observes work queues and rate limiters of client-go: coalesced adds, delayed items, the age of the oldest
// item, running workers, backoff, retries and dropped items. A Queue behaves like client-go's.
//
//	q := queue.NewTypedRateLimitingQueue(obs, "deployments",
//		workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
//
// For a queue that is created elsewhere, decorate its rate limiter with NewTypedRateLimiter, call a Tracker around Add, Get and Done,
// and let NewMetricsProvider report client-go's own metrics.
//
//	queue.go         Queue and its layers, from the inside out: ready, delayed and rate limited items
//	ready.go         coalesced adds, running workers, the end of a queue; from Add, Get and Done
//	order.go         the orders in which items are handed out; they see Push, Touch and Pop
//	ages.go          when each item became ready
//	recent.go        traced items that are being handed out, for spans and exemplars
//	clock.go         one reading of the clock per add, for client-go and for the ages
//	delayed.go       delayed items; from AddAfter, and from Add of the inner queue
//	rate_limiter.go  backoff and retries; from When and Forget
//	tracker.go       Tracker, for queues that are created elsewhere; from calls around Add, Get and Done
//	dropped.go       dropped items, counted by the worker
//	series.go        the series of a controller, and what a scrape reads
//	upstream.go      client-go's own workqueue_* metrics
package queue
