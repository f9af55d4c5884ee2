package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func subjectsOf(names ...string) []subject {
	var subjects []subject
	for _, name := range names {
		namespace, resource, ok := strings.Cut(name, "/")
		if !ok {
			namespace, resource = "", name
		}
		subjects = append(subjects, Config{}.subject(Kind{Version: "v1", Resource: resource, Namespaced: resource != "nodes"}, namespace))
	}
	return subjects
}

func names(targets []*target) []string {
	var list []string
	for _, t := range targets {
		list = append(list, t.name())
	}
	return list
}

func become(t *testing.T, e *Exporter, names ...string) {
	t.Helper()
	if err := e.targets.become(subjectsOf(names...)); err != nil {
		t.Fatal(err)
	}
}

// seriesOf counts the series that carry an informer_type.
func seriesOf(t *testing.T, g prometheus.Gatherer, informerType string) int {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "informer_type" && l.GetValue() == informerType {
					n++
				}
			}
		}
	}
	return n
}

func TestSetBecomes(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	pods := e.targets.list()[0]

	become(t, e, "nodes", "pods", "a/pods", "nodes", "b/pods")
	settle(t, e)
	if got, want := names(e.targets.list()), []string{"nodes", "pods", "a/pods", "nodes", "b/pods"}; !slices.Equal(got, want) {
		t.Errorf("targets %v, want %v", got, want)
	}
	if list := e.targets.list(); list[1] != pods || list[0] != list[3] {
		t.Error("a target that stayed is another one, or one subject has two targets")
	}
	if n := seriesOf(t, e.Gatherer(), "secrets"); n != 0 {
		t.Errorf("%d series are left of secrets, which nobody wants any more", n)
	}
	if got := values(t, e.Gatherer(), catalog.InformerSynced.Name, "watch_namespace"); got["a"] != 1 || got["b"] != 1 {
		t.Errorf("synced by namespace: %v", got)
	}

	become(t, e, "pods")
	if seriesOf(t, e.Gatherer(), "nodes") != 0 || seriesOf(t, e.Gatherer(), "pods") == 0 {
		t.Error("series of nodes are left, or those of pods are gone")
	}
	if got := values(t, e.Gatherer(), catalog.InformerSynced.Name, "watch_namespace"); len(got) != 1 || got["*"] != 1 {
		t.Errorf("synced by namespace: %v, want that of all only", got)
	}
}

// One target that cannot be made does not hold back the others.
func TestSetWithoutWhatCannotBeMade(t *testing.T) {
	e := newFake(t, Options{})
	become(t, e, "pods", "nodes")
	newTarget := e.targets.newTarget
	e.targets.newTarget = func(s subject) (*target, error) {
		if s.kind.Resource == "secrets" {
			return nil, errors.New("no secrets")
		}
		return newTarget(s)
	}
	if err := e.targets.become(subjectsOf("configmaps", "secrets", "pods")); err == nil || err.Error() != "no secrets" {
		t.Errorf("the error is %v", err)
	}
	if got := names(e.targets.list()); !slices.Equal(got, []string{"configmaps", "pods"}) {
		t.Errorf("watches %v", got)
	}
}

func TestSetLeavesNothing(t *testing.T) {
	e := newFake(t, Options{})
	become(t, e)
	run(t, e)
	nothing := goleak.IgnoreCurrent()
	become(t, e, "pods", "a/pods", "nodes")
	settle(t, e)
	become(t, e)
	goleak.VerifyNone(t, nothing)
	for _, informerType := range []string{"pods", "nodes"} {
		if n := seriesOf(t, e.Gatherer(), informerType); n != 0 {
			t.Errorf("%d series are left of %s", n, informerType)
		}
	}
}

// A kind whose version changes is a new informer with the same labels: its series start anew and are not shared with the
// old one, which the gauge of duplicates would show.
func TestSetExchangesAVersion(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	before := e.targets.list()[0]
	other := before.subject
	other.kind.Version = "v2"
	if err := e.targets.become([]subject{other}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-before.ended:
	default:
		t.Error("the old informer still runs")
	}
	if got := values(t, e.Gatherer(), catalog.InformerDuplicates.Name, "informer_type"); len(got) != 1 || got["pods"] != 0 {
		t.Errorf("duplicates: %v", got)
	}
}

// Informers that are made and never run have series, too.
func TestSetBeforeTheStart(t *testing.T) {
	e := newFake(t, Options{})
	if seriesOf(t, e.Gatherer(), "secrets") == 0 {
		t.Fatal("no series of secrets")
	}
	become(t, e, "pods")
	if n := seriesOf(t, e.Gatherer(), "secrets"); n != 0 {
		t.Errorf("%d series are left of secrets", n)
	}
	run(t, e)
	settle(t, e)
	if got := values(t, e.Gatherer(), catalog.InformerSynced.Name, "informer_type"); len(got) != 1 || got["pods"] != 1 {
		t.Errorf("synced: %v, want pods only", got)
	}
}

// Whatever happens at the same time, nothing runs after Stop.
func TestSetChangesWhileItStartsAndStops(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	for range 5 {
		e := newFake(t, Options{})
		var workers sync.WaitGroup
		for w := range 3 {
			workers.Go(func() {
				for i := range 10 {
					become(t, e, "pods", fmt.Sprintf("n%d/pods", (w+i)%4), fmt.Sprintf("n%d/configmaps", i%3))
					e.readiness()
					get(e, "/metrics")
				}
			})
		}
		e.Start(t.Context())
		workers.Go(func() {
			e.Drain()
			if err := e.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		workers.Wait()
		become(t, e, "late/pods") // and ends those that were made and never started
		if e.targets.list()[0].started {
			t.Error("an informer was started after Stop")
		}
	}
	goleak.VerifyNone(t, leaks)
}
