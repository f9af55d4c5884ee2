package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Object identifies an object.
type Object struct {
	kinds.Kind
	Namespace, Name string
}

// lagging is an object with an observed generation lag.
type lagging struct {
	Object
	generation, observed int64
}

// maxLags limits the number of objects with an observed generation lag for which the age is looked up, each with a request.
const maxLags = 200

// object adds the problems of an object.
func (f *finder) object(kind kinds.Kind, obj any) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	id := Object{kind, o.GetNamespace(), o.GetName()}
	if deleted := o.GetDeletionTimestamp(); deleted != nil {
		f.terminating(id, f.now.Sub(deleted.Time), o.GetFinalizers())
		return
	}
	switch o := obj.(type) {
	case *coordinationv1.Lease:
		f.lease(id, o)
	case objects.Observed:
		if o.GetObservedGeneration() < o.GetGeneration() {
			f.lags = append(f.lags, lagging{id, o.GetGeneration(), o.GetObservedGeneration()})
		}
	}
}

func (o Object) problem(kind string) Problem {
	return Problem{Type: kind, Resource: o.Type(), Namespace: o.Namespace, Name: o.Name}
}

// terminating adds an object that is being deleted. Its age counts from the end of the grace period and is negative before.
func (f *finder) terminating(id Object, age time.Duration, finalizers []string) {
	if id.Namespace != "" {
		f.within[id.Namespace]++
	}
	objective := catalog.Objectives.ObjectHeld
	if id.Type() == kinds.Namespaces.Type() {
		objective = catalog.Objectives.NamespaceStuck
	}
	if age <= f.threshold(seconds(objective)) {
		return
	}
	p := id.problem(Terminating)
	p.Detail = "no finalizer"
	if len(finalizers) > 0 {
		p.Detail = "blocked by " + strings.Join(finalizers, ", ")
	}
	f.add(p, age)
}

// lease adds an expired or released Lease of a leader election. Unlike the metrics, a single check must trust the clock of the
// holder; the objective is longer than usual clock skews. Like alerts, it assumes that a Lease that expired long ago is from a
// removed program.
func (f *finder) lease(id Object, l *coordinationv1.Lease) {
	if !objects.IsElection(l) || l.Spec.RenewTime == nil {
		return
	}
	expires := l.Spec.RenewTime.Time
	holder := ptr.Deref(l.Spec.HolderIdentity, "")
	if holder != "" {
		if l.Spec.LeaseDurationSeconds == nil {
			return
		}
		expires = expires.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
	}
	objective := catalog.Objectives.LeaseUnheld
	switch age := f.now.Sub(expires); {
	case age <= f.threshold(objective.For):
	case age > objective.Window:
		f.left++
	default:
		p := id.problem(NoLeader)
		p.Detail = "released by the last holder"
		if holder != "" {
			p.Detail = "last holder " + holder
		}
		f.add(p, age)
	}
}

// finish adds the problems and notes that depend on all objects.
func (f *finder) finish() {
	for i, p := range f.Problems {
		if p.Type != Terminating || p.Resource != kinds.Namespaces.Type() {
			continue
		}
		if n := f.within[p.Name]; n > 0 {
			f.Problems[i].Detail = fmt.Sprintf("%d terminating objects in it", n)
		} else if p.Detail == "no finalizer" {
			f.Problems[i].Detail = "its contents are not deleted; see its status.conditions"
		}
	}
	slices.SortFunc(f.lags, func(a, b lagging) int {
		return strings.Compare(a.Type()+"/"+a.Namespace+"/"+a.Name, b.Type()+"/"+b.Namespace+"/"+b.Name)
	})
	for i, l := range f.lags {
		if i == maxLags {
			f.Notes = append(f.Notes, fmt.Sprintf("%d more objects with an observed generation lag were not checked", len(f.lags)-i))
			break
		}
		f.lag(l)
	}
	if f.left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("Leases that expired more than %[2]s ago are omitted, because their programs have probably been removed: %[1]d", f.left, Duration(catalog.Objectives.LeaseUnheld.Window)))
	}
}

func (f *finder) lag(l lagging) {
	p := l.problem(GenerationLag)
	p.Detail = fmt.Sprintf("generation %d, observed %d", l.generation, l.observed)
	if f.Changed == nil {
		f.add(p, 0)
		return
	}
	changed, err := f.Changed(l.Object)
	switch age := f.now.Sub(changed); {
	case apierrors.IsNotFound(err):
	case err != nil:
		p.Detail += "; age unknown: " + err.Error()
		f.add(p, 0)
	case age > f.threshold(seconds(catalog.Objectives.GenerationLag)):
		f.add(p, age)
	}
}

// LastChange returns when a client last changed an object or its scale, excluding other subresources, such as status. It
// approximates the start of an observed generation lag: changes of metadata count as well.
func LastChange(o metav1.Object) time.Time {
	last := o.GetCreationTimestamp().Time
	for _, m := range o.GetManagedFields() {
		if (m.Subresource == "" || m.Subresource == "scale") && m.Time != nil && m.Time.After(last) {
			last = m.Time.Time
		}
	}
	return last
}
