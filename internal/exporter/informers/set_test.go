package informers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

func subjectsOf(names ...string) []Spec {
	var specs []Spec
	for _, name := range names {
		namespace, resource, ok := strings.Cut(name, "/")
		if !ok {
			namespace, resource = "", name
		}
		specs = append(specs, NewSpec(config.Config{}, kinds.Kind{Version: "v1", Resource: resource, Namespaced: resource != "nodes"}, namespace))
	}
	return specs
}

func names(targets []*Informer) []string {
	var list []string
	for _, t := range targets {
		list = append(list, t.Name())
	}
	return list
}

// testSet is a set of informers of pods, nodes and secrets in a cluster that has two pods and forbids listing secrets.
type testSet struct {
	*Set
	registry *prometheus.Registry
}

func newTestSet(t *testing.T) testSet {
	t.Helper()
	registry := prometheus.NewRegistry()
	s := testSet{NewSet(newFactory(t, registry, exportertest.MetadataClient(t)).New), registry}
	s.replace(t, "pods", "nodes", "secrets")
	return s
}

// newFactory returns a factory that discards logs and ignores changes.
func newFactory(t *testing.T, registry *prometheus.Registry, client metadata.Interface) *Factory {
	t.Helper()
	discard := slog.New(slog.DiscardHandler)
	observer, err := collectors.New(registry, collectors.Options{Name: "test", Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	signals, err := objects.New(registry, objects.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func() {}
	return &Factory{
		Observer: observer, Client: client, Objects: signals, Logger: discard,
		OnDefinitionsChanged: nothing, OnUnselected: nothing,
	}
}

func (s testSet) replace(t *testing.T, names ...string) {
	t.Helper()
	if err := s.Replace(subjectsOf(names...)); err != nil {
		t.Error(err)
	}
}

// start runs the set until the end of the test, when none of its goroutines may be left.
func (s testSet) start(t *testing.T) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	s.Run(ctx)
	t.Cleanup(func() {
		s.Stop()
		cancel()
		s.Wait()
		leaktest.None(t, leaks)
	})
}

// settle waits until each informer is synced or refused.
func (s testSet) settle() {
	for _, informer := range s.List() {
		select {
		case <-informer.Shared.HasSyncedChecker().Done():
		case <-informer.Availability.Refusal:
		}
	}
}

func TestSetBecomes(t *testing.T) {
	s := newTestSet(t)
	s.start(t)
	s.settle()
	pods := s.List()[0]

	s.replace(t, "nodes", "pods", "a/pods", "nodes", "b/pods")
	s.settle()
	if got, want := names(s.List()), []string{"nodes", "pods", "a/pods", "nodes", "b/pods"}; !slices.Equal(got, want) {
		t.Errorf("informers %v, want %v", got, want)
	}
	if list := s.List(); list[1] != pods || list[0] != list[3] {
		t.Error("an informer with an unchanged spec was replaced, or one spec has two informers")
	}
	if n := exportertest.SeriesOf(t, s.registry, "secrets"); n != 0 {
		t.Errorf("%d series are left of secrets, which are no longer selected", n)
	}
	if got := exportertest.Values(t, s.registry, catalog.InformerSynced.Name, "watch_namespace"); got["a"] != 1 || got["b"] != 1 {
		t.Errorf("synced by namespace: %v", got)
	}

	s.replace(t, "pods")
	if exportertest.SeriesOf(t, s.registry, "nodes") != 0 || exportertest.SeriesOf(t, s.registry, "pods") == 0 {
		t.Error("series of nodes are left, or those of pods are gone")
	}
	if got := exportertest.Values(t, s.registry, catalog.InformerSynced.Name, "watch_namespace"); len(got) != 1 || got["*"] != 1 {
		t.Errorf("synced by namespace: %v, want only that of all namespaces", got)
	}
}

// An informer that cannot be created does not prevent the others.
func TestSetWithoutWhatCannotBeMade(t *testing.T) {
	s := newTestSet(t)
	s.replace(t, "pods", "nodes")
	newTarget := s.newInformer
	s.newInformer = func(s Spec) (*Informer, error) {
		if s.Kind.Resource == "secrets" {
			return nil, errors.New("no secrets")
		}
		return newTarget(s)
	}
	if err := s.Replace(subjectsOf("configmaps", "secrets", "pods")); err == nil || err.Error() != "no secrets" {
		t.Errorf("the error is %v", err)
	}
	if got := names(s.List()); !slices.Equal(got, []string{"configmaps", "pods"}) {
		t.Errorf("watches %v", got)
	}
}

func TestSetLeavesNothing(t *testing.T) {
	s := newTestSet(t)
	s.replace(t)
	s.start(t)
	nothing := goleak.IgnoreCurrent()
	s.replace(t, "pods", "a/pods", "nodes")
	s.settle()
	s.replace(t)
	leaktest.None(t, nothing)
	for _, informerType := range []string{"pods", "nodes"} {
		if n := exportertest.SeriesOf(t, s.registry, informerType); n != 0 {
			t.Errorf("%d series are left of %s", n, informerType)
		}
	}
}

// A kind with a changed version has a new informer with the same labels: its series restart. If it shared them with the old
// informer, k8s_informer_duplicates would show that.
func TestSetExchangesAVersion(t *testing.T) {
	s := newTestSet(t)
	s.start(t)
	s.settle()
	before := s.List()[0]
	other := before.Spec
	other.Kind.Version = "v2"
	if err := s.Replace([]Spec{other}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-before.Ended:
	default:
		t.Error("the old informer still runs")
	}
	if got := exportertest.Values(t, s.registry, catalog.InformerDuplicates.Name, "informer_type"); len(got) != 0 {
		t.Errorf("duplicates: %v", got)
	}
}

// Informers that are created and never run have series, too.
func TestSetBeforeTheStart(t *testing.T) {
	s := newTestSet(t)
	if exportertest.SeriesOf(t, s.registry, "secrets") == 0 {
		t.Fatal("no series of secrets")
	}
	s.replace(t, "pods")
	if n := exportertest.SeriesOf(t, s.registry, "secrets"); n != 0 {
		t.Errorf("%d series are left of secrets", n)
	}
	s.start(t)
	s.settle()
	if got := exportertest.Values(t, s.registry, catalog.InformerSynced.Name, "informer_type"); len(got) != 1 || got["pods"] != 1 {
		t.Errorf("synced: %v, want pods only", got)
	}
}

// Nothing runs after Stop, despite concurrent changes.
func TestSetChangesWhileItStartsAndStops(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	for range 5 {
		s := newTestSet(t)
		var workers sync.WaitGroup
		for w := range 3 {
			workers.Go(func() {
				for i := range 10 {
					s.replace(t, "pods", fmt.Sprintf("n%d/pods", (w+i)%4), fmt.Sprintf("n%d/configmaps", i%3))
					if _, err := s.registry.Gather(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		s.Run(ctx)
		workers.Go(func() {
			s.Stop()
			cancel()
			s.Wait()
		})
		workers.Wait()
		s.replace(t, "late/pods") // also ends informers that were created and never started
		if s.List()[0].started {
			t.Error("an informer was started after Stop")
		}
	}
	leaktest.None(t, leaks)
}
