package leader

import (
	"cmp"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Options configures a decorated lock. The zero value is useful.
type Options struct {
	// Name is the value of the label lock. The default is the lock's own Describe(), "namespace/name". It must be unique in
	// a cluster: alerts treat all candidates with the same name as one election.
	Name string
	// RetryPeriod is the RetryPeriod of the LeaderElectionConfig: a renewal that takes longer is slow. The default is 2 s, as in
	// Kubernetes components and controller-runtime.
	RetryPeriod time.Duration
}

const defaultRetryPeriod = 2 * time.Second

// NewLock decorates the lock of one candidate and reports its leadership. Pass the result in the LeaderElectionConfig or as
// controller-runtime's LeaderElectionResourceLockInterface.
//
// A candidate leads from the time it sends the request that makes it the holder. It has released the lock if it removed
// itself as the holder. It has lost the lock if it reads another holder or none, if the lock is deleted, or if the elector
// stops for any other reason. A candidate that hangs is no longer reported as the leader once its lease expires.
//
// Candidates with the same name share their series, which exist as long as the Observer. A nil lock is returned as nil,
// which client-go rejects.
func NewLock(obs *collectors.Observer, inner resourcelock.Interface, options Options) resourcelock.Interface {
	if inner == nil {
		return nil
	}
	r := registryOf(obs)
	l := &lock{
		Interface: inner,
		registry:  r,
		series:    r.acquire(cmp.Or(options.Name, inner.Describe())),
		retry:     cmp.Or(options.RetryPeriod, defaultRetryPeriod),
	}
	if decorated, ok := inner.(*lock); ok && decorated.series == l.series {
		l.Interface = decorated.Interface // so that nothing is counted twice
	}
	return l
}

// stoppedLeading is the event that client-go's elector records on the lock when it has stopped leading, for any
// reason, and after releasing the lock if it does that.
const stoppedLeading = "stopped leading"

// lock decorates the lock of one candidate. Identity and Describe are those of the decorated lock.
type lock struct {
	resourcelock.Interface
	registry *registry
	series   *lockSeries
	retry    time.Duration
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if apierrors.IsNotFound(err) || err == nil && record != nil && record.HolderIdentity != l.Identity() {
		l.series.end(l, leaderLost)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	sent := l.registry.Now()
	err := l.Interface.Create(ctx, record)
	l.written(record, sent, err)
	return err
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	sent := l.registry.Now()
	renewal := l.series.writing(l, record.HolderIdentity == l.Identity(), sent)
	err := l.Interface.Update(ctx, record)
	if renewal {
		l.series.renewal(time.Duration(l.registry.Now()-sent), l.retry, err)
	}
	l.written(record, sent, err)
	return err
}

// written records the response to a request that wrote the lock's record.
func (l *lock) written(record resourcelock.LeaderElectionRecord, sent int64, err error) {
	switch {
	case err != nil:
	case record.HolderIdentity == l.Identity():
		l.series.hold(l, sent, time.Duration(record.LeaseDurationSeconds)*time.Second)
	default:
		l.series.end(l, leaderReleased)
	}
}

// RecordEvent implements resourcelock.Interface.
func (l *lock) RecordEvent(event string) {
	if event == stoppedLeading {
		l.series.end(l, leaderLost)
	}
	l.Interface.RecordEvent(event)
}
