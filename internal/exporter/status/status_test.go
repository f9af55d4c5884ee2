package status

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers/informerstest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// newReporter returns a reporter on informers of resources, without checks, in a cluster that has two pods and forbids listing
// secrets. run starts the informers.
func newReporter(t *testing.T, resources ...string) (r *Reporter, run func()) {
	t.Helper()
	return newChecked(t, exportertest.MetadataClient(t), collectors.Checks{}, resources...)
}

// newChecked is like newReporter, with the client of a cluster and checks.
func newChecked(t *testing.T, client metadata.Interface, checks collectors.Checks, resources ...string) (r *Reporter, run func()) {
	t.Helper()
	making := informerstest.NewFactory(t, prometheus.NewRegistry())
	making.Client = client
	set := informers.NewSet(making.New)
	var specs []informers.Spec
	for _, resource := range resources {
		s := informers.NewSpec(config.Config{}, kinds.Kind{Version: "v1", Resource: resource, Namespaced: resource != "nodes"}, "")
		s.Checks = checks
		specs = append(specs, s)
	}
	if err := set.Replace(specs); err != nil {
		t.Fatal(err)
	}
	discovered := make(chan struct{})
	close(discovered)
	return &Reporter{Observer: making.Observer, Set: set, Discovered: discovered}, func() {
		ctx, cancel := context.WithCancel(context.Background())
		set.Run(ctx)
		t.Cleanup(func() {
			set.Stop()
			cancel()
			set.Wait()
		})
	}
}

// The most severe state is first.
func TestRank(t *testing.T) {
	synced := func(change func(*Informer)) Informer {
		s := Informer{State: StateSynced}
		change(&s)
		return s
	}
	for want, all := range [][]Informer{
		{synced(func(s *Informer) { s.State, s.Refused = availability.Forbidden, true }), synced(func(s *Informer) { s.State, s.Refused, s.SyncLag = availability.Missing, true, time.Hour })},
		{synced(func(s *Informer) { s.State, s.SyncLag = StateUnreachable, time.Hour })},
		{synced(func(s *Informer) { s.State, s.LastAudit.Result = StateSyncing, informer.AuditDifferent })},
		{synced(func(s *Informer) { s.LastAudit.Result, s.Degraded = informer.AuditDifferent, true })},
		{synced(func(s *Informer) { s.SyncLag = time.Second }), synced(func(s *Informer) { s.Degraded = true })},
		{synced(func(s *Informer) { s.SyncLag = time.Second - 1 }), synced(func(s *Informer) { s.LastAudit.Result = informer.AuditError })},
	} {
		for _, s := range all {
			if got := s.Rank(); got != want {
				t.Errorf("%+v has rank %d, want %d", s, got, want)
			}
		}
	}
}

// Informers are ordered by type, then by namespace.
func TestByName(t *testing.T) {
	of := func(group, resource, namespace string) Informer {
		return Informer{Status: informer.Status{ID: informer.ID{Group: group, Resource: resource, Namespace: namespace}}}
	}
	want := []Informer{of("", "nodes", ""), of("", "pods", "a"), of("", "pods", "b"), of("example.com", "pods", "a"), of("", "services", "")}
	for _, s := range [][2]Informer{{want[0], want[1]}, {want[1], want[2]}, {want[2], want[3]}, {want[3], want[4]}} {
		if ByName(s[0], s[1]) >= 0 || ByName(s[1], s[0]) <= 0 || ByName(s[0], s[0]) != 0 {
			t.Errorf("%v is not before %v", s[0].ID, s[1].ID)
		}
	}
}

// The last audit of a working informer is doubtful if it found differences or was skipped.
func TestDoubtful(t *testing.T) {
	for result, want := range map[string]bool{
		informer.AuditDifferent: true, informer.AuditSkipped: true, informer.AuditConsistent: false, informer.AuditError: false, "": false,
	} {
		s := Informer{Status: informer.Status{Synced: true, LastAudit: informer.AuditStatus{Result: result}}}
		if s.doubtful() != want {
			t.Errorf("%q: doubtful %t, want %t", result, !want, want)
		}
		if compared := result == informer.AuditConsistent || result == informer.AuditDifferent; s.Audited() != compared {
			t.Errorf("%q: audited %t, want %t", result, !compared, compared)
		}
		refused, unsynced := s, s
		refused.Refused, unsynced.Synced = true, false
		if refused.doubtful() || unsynced.doubtful() {
			t.Errorf("%q: doubtful although refused or not synced", result)
		}
	}
}

// Settled waits for discovery and for all informers. If ctx ends first, the error names the informers that are missing.
func TestSettledErrors(t *testing.T) {
	late := errors.New("no time left")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	r, run := newReporter(t, "pods", "nodes", "secrets")
	r.Discovered = nil
	if err := r.Settled(ended); !errors.Is(err, late) || !strings.HasPrefix(err.Error(), "discovery is not complete: ") {
		t.Errorf("before discovery: %v", err)
	}
	closed := make(chan struct{})
	close(closed)
	r.Discovered = closed
	unsettled := func(what string, r *Reporter, want string) {
		t.Helper()
		err := r.Settled(ended)
		for err != nil && strings.HasPrefix(err.Error(), "discovery") { // both channels were ready
			err = r.Settled(ended)
		}
		if want += ": no time left"; !errors.Is(err, late) || err.Error() != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	unsettled("before the start", r, "3 of 3 resources are not synced and audited: */pods (syncing), */nodes (syncing), */secrets (syncing)")
	run()
	if err := r.Settled(t.Context()); err != nil {
		t.Errorf("with two that are synced and one that is refused: %v", err)
	}
	client := exportertest.MetadataClient(t)
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	some, runSome := newChecked(t, client, collectors.Checks{}, "pods", "nodes")
	runSome()
	await.True(t, "one of two synced", func() bool {
		states := some.Informers()
		return states[0].State == StateSynced && states[1].State == StateUnreachable
	})
	unsettled("with one that is unreachable", some, "1 of 2 resources are not synced and audited: */nodes (unreachable)")
	none, runNone := newReporter(t, "secrets")
	runNone()
	if err := none.Settled(t.Context()); err == nil || err.Error() != "none of 1 resources can be watched" {
		t.Errorf("with one that is refused: %v", err)
	}
	r.Confirmed(t.Context()) // returns, because no audit is doubtful
}

// Confirmed waits until an informer with differences has been audited again, with any result, or until its context ends.
func TestConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := exportertest.MetadataClient(t)
		var lists atomic.Int64
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			page := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
			if lists.Add(1) > 1 { // an audit
				page.Items = []runtime.RawExtension{{Object: &metav1.PartialObjectMetadata{
					TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "new", ResourceVersion: "6"},
				}}}
			}
			return true, page, nil
		})
		r, run := newChecked(t, client, collectors.Checks{Audit: time.Minute}, "pods")
		run()
		if err := r.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		first := r.Informers()[0].LastAudit
		if first.Result != informer.AuditDifferent {
			t.Fatalf("first audit: %+v, want differences", first)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Confirmed(short)
		if last := r.Informers()[0].LastAudit; last != first || short.Err() == nil {
			t.Errorf("after a second: %+v, want %+v", last, first)
		}
		r.Confirmed(t.Context())
		if last := r.Informers()[0].LastAudit; last.Result != informer.AuditDifferent || !last.At.After(first.At) || time.Since(last.At) > time.Second {
			t.Errorf("second audit %+v, first %+v; returned %v later", last, first, time.Since(last.At))
		}
	})
}

// The status of an informer has the pending events of all its handlers. A stopped informer has its ID, and the state syncing.
func TestNewInformer(t *testing.T) {
	r, _ := newReporter(t, "pods")
	pods := r.Set.List()[0]
	if s := newInformer(pods, informer.Status{Handlers: []informer.HandlerStatus{{Pending: 2}, {Pending: 3}}}); s.Pending != 5 {
		t.Errorf("%d pending events, want 5", s.Pending)
	}
	if s := newInformer(pods, informer.Status{}); s.ID != (informer.ID{Resource: "pods"}) || s.State != StateSyncing {
		t.Errorf("stopped: %v, %s", s.ID, s.State)
	}
}

// An exporter is ready once each informer is synced or rejected and at least one is synced, and stays ready until it is drained. Without
// informers it is ready only if other shards may watch everything.
func TestReadinessOfInformers(t *testing.T) {
	written := func(r *Reporter) string {
		var lines []string
		ready, checks := r.Readiness()
		for _, c := range checks {
			lines = append(lines, c.String())
		}
		return map[bool]string{true: "ready", false: "not ready"}[ready] + " " + strings.Join(lines, ", ")
	}
	r, run := newReporter(t, "pods", "secrets")
	if got, want := written(r), "not ready [-]pods failed: not synced yet, [-]secrets failed: not synced yet, [-]informers failed: none is synced"; got != want {
		t.Errorf("before the start: %s, want %s", got, want)
	}
	run()
	const synced = "ready [+]pods ok, [+]secrets skipped: forbidden"
	await.True(t, "ready", func() bool { return written(r) == synced }, func() string { return written(r) })
	_, checks := r.Readiness()
	if !slices.ContainsFunc(checks, func(c Check) bool { return c.Informer }) || !slices.ContainsFunc(checks, func(c Check) bool { return c.OK }) {
		t.Errorf("checks %+v", checks)
	}
	states := r.Informers()
	if len(states) != 2 || states[0].State != StateSynced || states[0].Objects != 2 || states[0].Refused || states[1].State != availability.Forbidden || !states[1].Refused {
		t.Errorf("%+v", states)
	}
	r.Drain()
	if got, want := written(r), "not "+synced+", [-]shutdown failed: shutting down"; got != want {
		t.Errorf("drained: %s, want %s", got, want)
	}
	for idle, want := range map[bool]string{true: "ready ", false: "not ready [-]informers failed: none is synced"} {
		empty, _ := newReporter(t)
		if empty.Idle = idle; written(empty) != want {
			t.Errorf("without informers, idle %t: %s, want %s", idle, written(empty), want)
		}
	}
	refused, runRefused := newReporter(t, "secrets")
	refused.Idle = true
	runRefused()
	const none = "not ready [+]secrets skipped: forbidden, [-]informers failed: none is synced"
	await.True(t, "not ready", func() bool { return written(refused) == none }, func() string { return written(refused) })
	undiscovered, _ := newReporter(t)
	undiscovered.Idle, undiscovered.Discovered = true, nil
	if got, want := written(undiscovered), "not ready [-]discovery failed: not complete yet"; got != want {
		t.Errorf("before discovery: %s, want %s", got, want)
	}
}
