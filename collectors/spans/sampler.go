package spans

import "context"

// Sampler is implemented by a Tracer that makes sampling decisions before an operation is described. Most events and reconciles are
// not sampled, and then have no further cost.
type Sampler interface {
	// Sample decides on a Deliver or Reconcile; a List is always passed to Start. caused is set for a Reconcile with causes that are
	// known and not sampled. If start is false, Start is not called. Otherwise sampled is passed on as Operation.Sampled, with
	// Operation.Decided.
	//
	// For a Reconcile, Sample is called when an item is added without a known cause, if FollowsCauses returns true, and when a worker
	// takes an item. The latter happens within client-go's Get, with the lock of the queue held: Sample must not block or call
	// the queue.
	Sample(k Kind, caused bool) (start, sampled bool)
	// FollowsCauses reports whether a Reconcile is sampled only if one of its causes is, if they are known. Otherwise the
	// decision on a Reconcile is made when a worker takes its item. It is called once per Observer.
	FollowsCauses() bool
	// IsRecording reports whether ctx has a recorded span. Otherwise Start is not called for a Request.
	IsRecording(ctx context.Context) bool
}
