package collectors

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

const (
	// maxCleanups is how many objects of one finalizer are watched for their deadline.
	maxCleanups = 10_000
	// cleanupMemory is for how long an object is remembered that nobody tries to clean up any more. client-go's back-off
	// ends at 1000 s.
	cleanupMemory = 30 * time.Minute
)

// FinalizerOptions say more about a clean-up function. The zero value is useful.
type FinalizerOptions struct {
	// Enforce gives each attempt a context that ends after the deadline. The default is to observe only: the clean-up gets
	// the caller's context.
	Enforce bool
}

// Finalizer decorates the function that cleans up before a controller removes its finalizer from an object that is being
// deleted: attempts by result, how long they took, and how many objects are overdue.
//
// An attempt that returns nil is a success, however long it took. One that fails after its context's deadline, or that
// has taken longer than the deadline given here, counts as timeout, every other one that fails as error. A panic is
// counted and goes on.
//
// An object is overdue, in controller_finalizer_overdue, when its clean-up has not succeeded within the deadline counted
// from its first attempt, also while an attempt hangs. A deadline of 0 is none. Objects are told apart by UID. One is
// forgotten when its clean-up succeeds, by Observer.ForgetCleanup, 30 minutes after the last attempt, and when the
// program ends, so that its time begins again with a restart. Of more than 10,000 at a time the number is a lower bound.
//
// Decorators of one Observer with the same controller and finalizer share their series, which live as long as the
// Observer, see ForgetController. Of several options the last count. The function that is returned may be called
// concurrently as far as the one that was given may. It adds less than a microsecond.
func Finalizer[T metav1.Object](obs *Observer, controller, finalizer string, deadline time.Duration, cleanup func(context.Context, T) error, options ...FinalizerOptions) func(context.Context, T) error {
	c, enforce := obs.cleanups(controller, finalizer), last(options).Enforce && deadline > 0
	return func(ctx context.Context, object T) (err error) {
		if enforce {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, deadline)
			defer cancel()
		}
		ended, a := c.panicked, c.begin(object, deadline)
		defer func() { c.end(a, ended) }()
		err = cleanup(ctx, object)
		switch {
		case err == nil:
			ended = c.succeeded
		case errors.Is(ctx.Err(), context.DeadlineExceeded), deadline > 0 && c.obs.now()-a.start > int64(deadline):
			ended = c.timedOut
		default:
			ended = c.failed
		}
		return err
	}
}

// FinalizerRollback decorates the function that undoes what a failed clean-up had begun: how long it took, by result. A
// panic is counted and goes on. What is said of Finalizer's series and function holds for those of FinalizerRollback.
func FinalizerRollback[T any](obs *Observer, controller, finalizer string, rollback func(context.Context, T) error) func(context.Context, T) error {
	r := obs.rollbacks(controller, finalizer)
	return func(ctx context.Context, object T) (err error) {
		ended, start := r.panicked, obs.now()
		defer func() { ended.Observe(seconds(obs.now() - start)) }()
		err = rollback(ctx, object)
		ended = r.succeeded
		if err != nil {
			ended = r.failed
		}
		return err
	}
}

// ForgetCleanup drops an object from controller_finalizer_overdue, as is due when the object is gone without that
// controller's clean-up having succeeded: somebody has removed the finalizer by hand. It belongs where a reconcile finds
// that there is no such object:
//
//	pod, err := lister.Pods(namespace).Get(name)
//	if apierrors.IsNotFound(err) {
//		obs.ForgetCleanup("pods", finalizer, types.NamespacedName{Namespace: namespace, Name: name})
//		return nil
//	}
//
// An attempt that is still being made is counted when it ends. It is safe for concurrent use, and looks at the objects
// that are waiting for another attempt. For a finalizer without a series of its own, see ForgetController, it does
// nothing.
func (o *Observer) ForgetCleanup(controller, finalizer string, object types.NamespacedName) {
	if c := lookUp[*cleanups](&o.controllers, controller, finalizer); c != nil {
		c.drop(object)
	}
}

// cleanups are the series of a finalizer's clean-ups by one controller.
type cleanups struct {
	obs                                   *Observer
	labels                                []string
	succeeded, failed, timedOut, panicked *outcome

	mu      sync.Mutex
	objects map[types.UID]*cleanup
}

// cleanup is an object whose clean-up has been tried and has not succeeded.
type cleanup struct {
	name types.NamespacedName
	// due is when the deadline ends, and tried when an attempt last began or ended.
	due, tried int64
	// attempts is how many are being made, normally 0 or 1.
	attempts int
}

// givenUp tells whether nobody tries any more: the object may be gone, or another replica have cleaned it up.
func (c *cleanup) givenUp(now int64) bool {
	return c.attempts == 0 && now-c.tried > int64(cleanupMemory)
}

// attempt is one call of a clean-up.
type attempt struct {
	start int64
	uid   types.UID
	// object is nil if it is not watched for its deadline.
	object *cleanup
}

var _ controllerSeries = &cleanups{}

func (o *Observer) cleanups(controller, finalizer string) *cleanups {
	return controllerSeriesFor(o, func(labels ...string) *cleanups {
		results := o.vecs.outcomes(catalog.ControllerFinalizerAttempts, catalog.ControllerFinalizerDuration, labels...)
		return &cleanups{
			obs:       o,
			labels:    labels,
			succeeded: results[catalog.CleanupSuccess],
			failed:    results[catalog.CleanupError],
			timedOut:  results[catalog.CleanupTimeout],
			panicked:  results[catalog.CleanupPanic],
			objects:   map[types.UID]*cleanup{},
		}
	}, controller, finalizer)
}

func (c *cleanups) begin(object metav1.Object, deadline time.Duration) attempt {
	a := attempt{start: c.obs.now()}
	if deadline <= 0 || isNil(object) {
		return a
	}
	a.uid = object.GetUID()
	c.mu.Lock()
	defer c.mu.Unlock()
	a.object = c.objects[a.uid]
	if a.object == nil && len(c.objects) >= maxCleanups {
		return a
	}
	if a.object == nil || a.object.givenUp(a.start) {
		a.object = &cleanup{
			name: types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()},
			due:  a.start + int64(deadline),
		}
		c.objects[a.uid] = a.object
	}
	a.object.tried = a.start
	a.object.attempts++
	return a
}

// end accounts for the end of an attempt. It runs deferred and does not recover.
func (c *cleanups) end(a attempt, o *outcome) {
	now := c.obs.now()
	o.observe(now - a.start)
	if a.object == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.object.tried = now
	a.object.attempts--
	if o == c.succeeded {
		delete(c.objects, a.uid)
	}
}

// drop forgets the objects with a name.
func (c *cleanups) drop(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.objects, func(_ types.UID, object *cleanup) bool { return object.name == name })
}

func (c *cleanups) collect(ch chan<- prometheus.Metric) {
	ch <- c.obs.vecs.sample(catalog.ControllerFinalizerOverdue, float64(c.overdue(c.obs.now())), c.labels...)
}

// overdue counts the objects that are overdue, and forgets those that have been given up.
func (c *cleanups) overdue(now int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid, object := range c.objects {
		switch {
		case object.givenUp(now):
			delete(c.objects, uid)
		case now >= object.due:
			n++
		}
	}
	return n
}

func (c *cleanups) forget() {
	c.obs.vecs.forgetSet(catalog.ControllerFinalizerAttempts, c.labels...)
	c.obs.vecs.forgetSet(catalog.ControllerFinalizerDuration, c.labels...)
}

// rollbacks are the series of a finalizer's rollbacks by one controller.
type rollbacks struct {
	vecs                        *vecs
	labels                      []string
	succeeded, failed, panicked prometheus.Observer
}

var _ controllerSeries = &rollbacks{}

func (o *Observer) rollbacks(controller, finalizer string) *rollbacks {
	return controllerSeriesFor(o, func(labels ...string) *rollbacks {
		results := o.vecs.histogramSet(catalog.ControllerFinalizerRollbackDuration, labels...)
		return &rollbacks{
			vecs:      o.vecs,
			labels:    labels,
			succeeded: results[catalog.CleanupSuccess],
			failed:    results[catalog.CleanupError],
			panicked:  results[catalog.CleanupPanic],
		}
	}, controller, finalizer)
}

func (r *rollbacks) collect(chan<- prometheus.Metric) {}

func (r *rollbacks) forget() {
	r.vecs.forgetSet(catalog.ControllerFinalizerRollbackDuration, r.labels...)
}
