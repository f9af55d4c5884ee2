package check

import (
	"cmp"
	"fmt"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// Find returns the problems of informers and of the objects in their stores. Its cost grows with the number of objects.
func Find(states []status.Informer, set []*informers.Informer, o Options) Report {
	f := finder{Options: o, now: time.Now(), Report: Report{Informers: len(states), Problems: []Problem{}, Watched: map[string]bool{}}, within: map[string]int{}}
	byName := map[string]*informers.Informer{}
	for _, t := range set {
		byName[t.Name()] = t
	}
	for _, s := range states {
		f.Watched[s.Kind.Type()] = true
		f.informer(s)
		t := byName[nameOf(s)]
		if t == nil || !s.Synced {
			continue
		}
		if t.WithoutStatusSubresource() {
			f.Notes = append(f.Notes, nameOf(s)+" has a status but no status subresource: each status update goes through the main resource, increments metadata.generation, and conflicts with updates of the spec")
		}
		all := t.Shared.GetStore().List()
		f.Objects += len(all)
		for _, obj := range all {
			f.object(t.Kind, obj)
		}
	}
	f.finish()
	f.Sort()
	return f.Report
}

func nameOf(s status.Informer) string {
	return informers.Spec{Kind: s.Kind, Namespace: s.ID.Namespace}.Name()
}

// finder collects problems.
type finder struct {
	Options
	Report
	now time.Time

	lags   []lagging
	left   int // Leases that expired before the window of the objective
	within map[string]int
}

func (f *finder) add(p Problem, age time.Duration) {
	p.Detail = untrusted.Cut(p.Detail)
	p.AgeSeconds = age.Round(time.Millisecond).Seconds()
	f.Problems = append(f.Problems, p)
}

// informer adds the problems of an informer.
func (f *finder) informer(s status.Informer) {
	problem := func(kind, detail string, age time.Duration) {
		f.add(Problem{Type: kind, Resource: s.Kind.Type(), Namespace: s.ID.Namespace, Detail: detail}, age)
	}
	switch {
	case s.Refused:
		problem(s.State, availability.Fix(s.State), 0)
		return
	case s.State == status.StateUnreachable:
		problem(NotSynced, "no response from the API server", 0)
		return
	case !s.Synced:
		problem(NotSynced, "the initial sync is not complete", 0)
		return
	case s.SyncLag.Seconds() > catalog.Objectives.SyncLag.Threshold:
		problem(Stale, "sync lag of "+Duration(s.SyncLag), s.SyncLag)
	}
	switch audit := s.LastAudit; {
	case audit.Interval == 0:
		f.Notes = append(f.Notes, nameOf(s)+" was not audited: the configuration disables audits")
	case s.Inconsistent():
		problem(Inconsistent, fmt.Sprintf("%d differences from the API server", audit.Differences), 0)
	case !s.Audited():
		f.Notes = append(f.Notes, fmt.Sprintf("%s was not audited: %s", nameOf(s), cmp.Or(audit.Result, "no time left")))
	}
}

// threshold returns the age from which something is a problem.
func (f *finder) threshold(objective time.Duration) time.Duration {
	if f.OlderThan != nil {
		return *f.OlderThan
	}
	return objective
}

func seconds(o catalog.Objective) time.Duration {
	return time.Duration(o.Threshold * float64(time.Second))
}
