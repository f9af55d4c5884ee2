package controllerruntime

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// decorateQueue decorates a function that creates the queue of a controller. A queue that is neither client-go's nor
// controller-runtime's is not decorated, because handlers may expect its type.
func decorateQueue[R comparable](obs *collectors.Observer, logger logr.Logger, name string, inner newQueue[R]) newQueue[R] {
	return func(controllerName string, rateLimiter workqueue.TypedRateLimiter[R]) workqueue.TypedRateLimitingInterface[R] {
		late := &lateLimiter[R]{rateLimiter}
		q := inner(controllerName, late)
		if !isKnownQueue(q) {
			logger.Info("items in the queue of a controller are not observed: its NewQueue returns neither a queue of client-go nor a priority queue of controller-runtime",
				"controller", name, "type", fmt.Sprintf("%T", q))
			return q
		}
		pq, merges := q.(priorityqueue.PriorityQueue[R])
		tracker := queue.NewTracker[R](obs, name, queue.TrackerOptions{Merges: merges})
		late.TypedRateLimiter = tracker.RateLimiter(rateLimiter)
		tracked := &trackedQueue[R]{q, tracker}
		if merges {
			return &trackedPriorityQueue[R]{tracked, pq}
		}
		return tracked
	}
}

// lateLimiter is a queue's rate limiter. It is decorated after the queue is created and before the queue is used.
type lateLimiter[R comparable] struct {
	workqueue.TypedRateLimiter[R]
}

// trackedQueue reports to its tracker which items are in the queue.
type trackedQueue[R comparable] struct {
	workqueue.TypedRateLimitingInterface[R]
	tracker *queue.Tracker[R]
}

// Add implements workqueue.TypedInterface.
func (q *trackedQueue[R]) Add(item R) {
	q.tracker.Add(item, 0)
	q.TypedRateLimitingInterface.Add(item)
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *trackedQueue[R]) AddAfter(item R, d time.Duration) {
	q.tracker.Add(item, d)
	q.TypedRateLimitingInterface.AddAfter(item, d)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *trackedQueue[R]) AddRateLimited(item R) {
	q.tracker.AddRateLimited(item)
	q.TypedRateLimitingInterface.AddRateLimited(item)
}

// Done implements workqueue.TypedInterface.
func (q *trackedQueue[R]) Done(item R) {
	q.tracker.Done(item)
	q.TypedRateLimitingInterface.Done(item)
}

// Get implements workqueue.TypedInterface.
func (q *trackedQueue[R]) Get() (item R, shutdown bool) {
	q.tracker.Wait()
	item, shutdown = q.TypedRateLimitingInterface.Get()
	if !shutdown {
		q.tracker.Get(item)
	}
	return item, shutdown
}

// ShutDown implements workqueue.TypedInterface.
func (q *trackedQueue[R]) ShutDown() {
	q.tracker.End()
	q.TypedRateLimitingInterface.ShutDown()
}

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *trackedQueue[R]) ShutDownWithDrain() {
	q.tracker.End()
	q.TypedRateLimitingInterface.ShutDownWithDrain()
}

// trackedPriorityQueue is trackedQueue for a priority queue.
type trackedPriorityQueue[R comparable] struct {
	*trackedQueue[R]
	inner priorityqueue.PriorityQueue[R]
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q *trackedPriorityQueue[R]) AddWithOpts(o priorityqueue.AddOpts, items ...R) {
	for _, item := range items {
		if o.RateLimited {
			q.tracker.AddRateLimited(item)
		} else {
			q.tracker.Add(item, o.After)
		}
	}
	q.inner.AddWithOpts(o, items...)
}

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q *trackedPriorityQueue[R]) GetWithPriority() (item R, priority int, shutdown bool) {
	q.tracker.Wait()
	item, priority, shutdown = q.inner.GetWithPriority()
	if !shutdown {
		q.tracker.Get(item)
	}
	return item, priority, shutdown
}
