package inspection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Explainer is implemented by parts that know something about single objects.
type Explainer interface {
	// Explain adds what is known about the object of an explanation.
	Explain(*Explanation)
}

// Explanation is what a program knows about one object.
type Explanation struct {
	// Resource is a value of the label informer_type, such as "deployments.apps".
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace"`
	Object    string    `json:"name"`
	Time      time.Time `json:"time"`
	// Causes say why the object may not be in its desired state. They are empty if the program knows no reason.
	Causes []Cause `json:"causes"`
	// Caches are the informers of the resource that may have the object.
	Caches []Cache `json:"caches"`
	// Queues are the controllers that have the object in their queue, retry it, or have reconciled it.
	Queues []Queued `json:"queues"`
	// Leader reports whether this process leads, nil without observed leader election.
	Leader *bool `json:"leader"`
}

// Key returns namespace/name, as in the keys of queues.
func (e *Explanation) Key() string { return strings.TrimPrefix(e.Namespace+"/"+e.Object, "/") }

// Values of Cause.Cause.
const (
	NoInformer   = "no_informer"   // no informer of the program watches the resource in the namespace
	NotSynced    = "not_synced"    // an informer has not synced
	WatchDown    = "watch_down"    // an informer has no watch
	CacheBehind  = "cache_behind"  // an informer is behind the API server
	WriteUnseen  = "write_unseen"  // an informer has not received the program's own last write
	NotCached    = "not_cached"    // a cache does not have the object
	NotHandled   = "not_handled"   // a handler has not finished the object's last event, or is behind
	Terminating  = "terminating"   // the object is being deleted
	Unobserved   = "unobserved"    // the object has observedGeneration < generation
	NotLeading   = "not_leading"   // another replica leads
	NoWorkers    = "no_workers"    // the object is queued and no worker runs
	Queueing     = "queued"        // the object waits for a worker
	BackingOff   = "backoff"       // the object failed and waits for its next attempt
	KeepsFailing = "keeps_failing" // the object has been retried, and its backoff has ended
	Failed       = "failed"        // the last reconcile failed, and no retry is known
)

// order has the causes that explain others first.
var order = []string{NotLeading, NoInformer, NotSynced, WatchDown, CacheBehind, WriteUnseen, NotCached, NotHandled, Terminating, Unobserved, NoWorkers, Queueing, BackingOff, KeepsFailing, Failed}

// Finish adds the causes that no part knows alone, and sorts the causes, and the queues by controller.
func (e *Explanation) Finish() {
	for _, q := range e.Queues {
		if r := q.LastReconcile; r != nil && r.Failed && q.Retried == nil {
			e.Add(Failed, "the last reconcile of controller %s ended %s ago with %s", q.Controller, Ago(e.Time.Sub(r.Time)), r)
		}
	}
	slices.SortStableFunc(e.Causes, func(a, b Cause) int {
		return cmp.Compare(slices.Index(order, a.Cause), slices.Index(order, b.Cause))
	})
	slices.SortFunc(e.Queues, func(a, b Queued) int { return cmp.Compare(a.Controller, b.Controller) })
}

// Cause is a reason, and its details as text.
type Cause struct {
	Cause  string `json:"cause"`
	Detail string `json:"detail"`
}

// Add adds a cause.
func (e *Explanation) Add(cause, format string, args ...any) {
	e.Causes = append(e.Causes, Cause{cause, fmt.Sprintf(format, args...)})
}

// Cache is the state of one informer, and of the object in it.
type Cache struct {
	WatchNamespace string  `json:"watchNamespace"`
	Synced         bool    `json:"synced"`
	WatchConnected bool    `json:"watchConnected"`
	SyncLagSeconds float64 `json:"syncLagSeconds"`
	// LastEvent is when the informer last received anything.
	LastEvent *time.Time `json:"lastEvent"`
	// Cached reports whether the cache has the object. The next fields are those of the cached object.
	Cached            bool       `json:"cached"`
	ResourceVersion   string     `json:"resourceVersion"`
	Generation        int64      `json:"generation"`
	DeletionTimestamp *time.Time `json:"deletionTimestamp"`
	Finalizers        []string   `json:"finalizers"`
	// Received is when the event with this resourceVersion was received, nil if it came from a list or is no longer remembered.
	Received *time.Time `json:"received"`
	// ObservedGeneration is status.observedGeneration, nil if the cached object lacks the field or has 0.
	ObservedGeneration *int64 `json:"observedGeneration"`
	// LastWrite is the program's own last write of the object, nil if none is remembered.
	LastWrite *Write    `json:"lastWrite"`
	Handlers  []Handled `json:"handlers"`
}

// Write is a write of the program, and its echo in one informer.
type Write struct {
	ResourceVersion string `json:"resourceVersion"`
	// Time is when the response arrived.
	Time time.Time `json:"time"`
	// EchoSeconds is the time from the response to the event with this resourceVersion, nil if the informer has not received it or no
	// longer remembers it.
	EchoSeconds *float64 `json:"echoSeconds"`
	// Stored reports whether the cache has the object in this version or a later one.
	Stored bool `json:"stored"`
}

// Handled is the state of an event handler.
type Handled struct {
	Handler string `json:"handler"`
	// Handled reports whether the handler has finished the event of Cache.Received. It is nil without such an event.
	Handled *bool  `json:"handled"`
	Pending uint64 `json:"pending"`
	// BehindSeconds is the age of the oldest pending event.
	BehindSeconds float64 `json:"behindSeconds"`
}

// Queued is the state of an object in the queue of a controller.
type Queued struct {
	Controller string `json:"controller"`
	// ReadySince is when the object became ready, nil if it does not wait for a worker.
	ReadySince *time.Time `json:"readySince"`
	// Delayed reports whether the object will be added after a delay.
	Delayed bool `json:"delayed"`
	// Retried has the retries of the object, nil if its last attempt succeeded.
	Retried *Item `json:"retried"`
	// LastReconcile is the last reconcile of the object, nil if none is remembered.
	LastReconcile *Reconcile `json:"lastReconcile"`
}

// Of returns the state of the object in a controller, to be changed before the next call.
func (e *Explanation) Of(controller string) *Queued {
	for i := range e.Queues {
		if e.Queues[i].Controller == controller {
			return &e.Queues[i]
		}
	}
	e.Queues = append(e.Queues, Queued{Controller: controller})
	return &e.Queues[len(e.Queues)-1]
}

// Reconcile is the end of a reconcile.
type Reconcile struct {
	// Result is a value of the label result of controller_reconcile_total. Failed reports whether it is a failure.
	Result string `json:"result"`
	Failed bool   `json:"-"`
	// Error is the class of the error, such as conflict or timeout, empty without one.
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

// String returns the result, with the class of the error.
func (r *Reconcile) String() string {
	if r.Error == "" {
		return r.Result
	}
	return r.Result + " (" + r.Error + ")"
}

// Ago formats the time since a moment.
func Ago(d time.Duration) string { return max(0, d).Round(100 * time.Millisecond).String() }
