package controllers

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

const (
	// maxCleanups is the maximum number of objects of one finalizer that are checked for their deadline.
	maxCleanups = 10_000
	// cleanupMemory is how long an object is remembered after its last attempt. client-go's backoff is at most 1000 s.
	cleanupMemory = 30 * time.Minute
)

// FinalizerOptions configures a decorated cleanup function. The zero value is useful.
type FinalizerOptions struct {
	// Deadline is the time within which a cleanup should succeed, counted from its first attempt. The default is none. It
	// is not enforced: to end an attempt, call the cleanup function with a context that has a timeout.
	Deadline time.Duration
}

// NewFinalizer decorates the function that cleans up before a controller removes its finalizer from an object. It reports
// attempts and their duration by result, and the number of objects with an overdue cleanup.
//
// An attempt that returns nil counts as success, regardless of its duration. One that returns an error counts as timeout if
// its context has exceeded its deadline, or if the attempt took longer than FinalizerOptions.Deadline; otherwise as error. A
// timeout is also logged at level Warn. A panic is counted and not recovered.
//
// An object is overdue, in controller_finalizer_overdue, if its cleanup has not succeeded within the deadline, counted from its
// first attempt; an attempt need not have returned. Objects are identified by their UID. An object is forgotten when its cleanup
// succeeds, by ForgetCleanup, 30 minutes after its last attempt, and when the program ends, so a restart also restarts the
// deadline. With more than 10,000 such objects at a time, the number is a lower bound.
//
// Decorators of one Observer with the same controller and finalizer share their series, which exist until Forget. The
// returned function is safe for concurrent use if cleanup is. It adds less than a microsecond.
func NewFinalizer[T metav1.Object](obs *collectors.Observer, controller, finalizer string, cleanup func(context.Context, T) error, options FinalizerOptions) func(context.Context, T) error {
	c, deadline := registryOf(obs).cleanups(controller, finalizer), options.Deadline
	return func(ctx context.Context, object T) (err error) {
		ctx, span := c.registry.beginSpan(ctx, spans.Cleanup, c.scope.Labels(), object)
		ended, a := cleanupPanic, c.begin(object, deadline)
		defer func() {
			took := c.registry.Now() - a.start
			traceID := endSpan(span, ended, err)
			c.end(a, ended, took, traceID)
			if ended == cleanupTimeout { // last, because a logger may block
				c.registry.logCleanup(ctx, "finalizer cleanup exceeded its deadline", c.scope.Labels(), ended, took, traceID)
			}
		}()
		err = cleanup(ctx, object)
		switch {
		case err == nil:
			ended = cleanupSuccess
		case errors.Is(ctx.Err(), context.DeadlineExceeded), deadline > 0 && c.registry.Now()-a.start > int64(deadline):
			ended = cleanupTimeout
		default:
			ended = cleanupError
		}
		return err
	}
}

// NewRollback decorates the function that undoes a cleanup that failed halfway. It reports the duration of rollbacks by result.
// A panic is counted and not recovered. Each rollback is logged at level Warn. Series, concurrency and cost are those of
// NewFinalizer.
func NewRollback[T any](obs *collectors.Observer, controller, finalizer string, rollback func(context.Context, T) error) func(context.Context, T) error {
	o := registryOf(obs)
	r := seriesOf(o, func(scope *core.Scope) rollbacks {
		return rollbacks{scope, scope.ObserverSet(catalog.ControllerFinalizerRollbackDuration)}
	}, controller, finalizer)
	return func(ctx context.Context, object T) (err error) {
		var span core.Span
		if o.Tracing != nil { // otherwise object would be allocated
			ctx, span = o.beginSpan(ctx, spans.Rollback, r.scope.Labels(), object)
		}
		ended, start := cleanupPanic, o.Now()
		defer func() {
			took := o.Now() - start
			traceID := span.End(resultOf(ended, err))
			r.results.ObserveTraced(ended, core.Seconds(took), traceID)
			o.logCleanup(ctx, "finalizer cleanup rolled back", r.scope.Labels(), ended, took, traceID)
		}()
		err = rollback(ctx, object)
		ended = cleanupSuccess
		if err != nil {
			ended = cleanupError
		}
		return err
	}
}

// ForgetCleanup removes an object from controller_finalizer_overdue. A controller should call it for an object that no longer
// exists: its finalizer may have been removed by hand.
//
//	pod, err := lister.Pods(namespace).Get(name)
//	if apierrors.IsNotFound(err) {
//		controllers.ForgetCleanup(obs, "pods", finalizer, types.NamespacedName{Namespace: namespace, Name: name})
//		return nil
//	}
//
// An attempt in progress is counted when it ends. ForgetCleanup has no effect on a controller or finalizer that is reported
// as "other". It is safe for concurrent use. Its cost grows with the number of objects without a successful cleanup.
func ForgetCleanup(obs *collectors.Observer, controller, finalizer string, object types.NamespacedName) {
	c := lookUp[*cleanups](registryOf(obs), controller, finalizer)
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.objects, func(_ types.UID, known *cleanup) bool { return known.name == object })
}

// cleanups are the series of a controller's cleanups for one finalizer.
type cleanups struct {
	registry *registry
	scope    *core.Scope
	results  results

	mu      sync.Mutex
	objects map[types.UID]*cleanup
}

// cleanup is the state of an object without a successful cleanup.
type cleanup struct {
	name types.NamespacedName
	// due is the end of the deadline; tried is the last start or end of an attempt.
	due, tried int64
	// attempts is the number of attempts in progress, usually 0 or 1.
	attempts int
}

// expired reports whether the last attempt was so long ago that the object may have been deleted, or cleaned up by another replica.
func (c *cleanup) expired(now int64) bool {
	return c.attempts == 0 && now-c.tried > int64(cleanupMemory)
}

// attempt is one call of a cleanup function.
type attempt struct {
	start int64
	uid   types.UID
	// object is nil if its deadline is not checked.
	object *cleanup
}

var _ collector = &cleanups{}

func (o *registry) cleanups(controller, finalizer string) *cleanups {
	return seriesOf(o, func(scope *core.Scope) *cleanups {
		return &cleanups{
			registry: o,
			scope:    scope,
			results:  results{scope.CounterSet(catalog.ControllerFinalizerAttempts), scope.ObserverSet(catalog.ControllerFinalizerDuration)},
			objects:  map[types.UID]*cleanup{},
		}
	}, controller, finalizer)
}

func (c *cleanups) begin(object metav1.Object, deadline time.Duration) attempt {
	a := attempt{start: c.registry.Now()}
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
	if a.object == nil || a.object.expired(a.start) {
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

// end records the end of an attempt. It is deferred and does not recover.
func (c *cleanups) end(a attempt, result string, took int64, traceID string) {
	c.results.observe(result, took, traceID)
	if a.object == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.object.tried = a.start + took
	a.object.attempts--
	if result == cleanupSuccess {
		delete(c.objects, a.uid)
	}
}

func (c *cleanups) collect(ch chan<- prometheus.Metric) {
	c.scope.SendGauge(ch, catalog.ControllerFinalizerOverdue, float64(c.overdue(c.registry.Now())))
}

// overdue returns the number of overdue objects, and forgets expired ones.
func (c *cleanups) overdue(now int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid, object := range c.objects {
		switch {
		case object.expired(now):
			delete(c.objects, uid)
		case now >= object.due:
			n++
		}
	}
	return n
}

// rollbacks are the series of a controller's rollbacks for one finalizer.
type rollbacks struct {
	scope   *core.Scope
	results *core.ObserverSet
}
