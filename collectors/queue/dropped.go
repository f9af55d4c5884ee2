package queue

// DropReason is the reason why a controller stopped retrying an item. The next event for its object adds it again.
type DropReason string

const (
	// DroppedMaxRetries is an item that failed after its last retry.
	DroppedMaxRetries DropReason = "max_retries"
	// DroppedTerminal is an item with an error that no retry can fix.
	DroppedTerminal DropReason = "terminal"
	// DroppedShutdown is an item that was left over when the controller shut down.
	DroppedShutdown DropReason = "shutdown"
)

// Dropped counts n dropped items in controller_dropped_total. The worker must still call Forget and Done.
//
//	if q.NumRequeues(item) >= maxRetries {
//		q.Dropped(queue.DroppedMaxRetries, 1)
//		q.Forget(item)
//	}
//
// With DroppedShutdown it may be called after the last worker has returned, together with Remaining; the series of the metric
// then exist until the Queue becomes unreachable. With any other reason, the call has no effect once the series of the queue are
// deleted. An unknown reason and an n below 1 are ignored. Dropped is safe for concurrent use. It costs one atomic addition; the
// first call for a reason also creates its series.
func (q *Queue[T]) Dropped(reason DropReason, n int) {
	if n < 1 {
		return
	}
	counters := q.dropped
	if reason == DroppedShutdown {
		counters = q.droppedAtShutdown()
	}
	counters.reasons.Add(string(reason), float64(n))
}
