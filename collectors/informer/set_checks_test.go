package informer_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// New checks apply to informers that are created afterwards, and only to those.
func TestSetChecks(t *testing.T) {
	obs, reg := observertest.New(t)
	watched := func(namespace string) {
		start(t, informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods", Namespace: namespace}, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
	}
	audits := func(namespace string) float64 {
		return metricstest.Gather(t, reg).Sum(catalog.InformerAudits.Name, "watch_namespace", namespace, "result", checks.AuditConsistent)
	}
	watched("before")
	if err := obs.SetChecks(collectors.Checks{Audit: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	watched("after")
	if err := obs.SetChecks(collectors.Checks{Audit: -1}); err == nil || !strings.Contains(err.Error(), "Options.Checks.Audit") {
		t.Errorf("a negative interval: %v", err)
	}
	await.True(t, "three audits", func() bool { return audits("after") >= 3 })
	if n := audits("before"); n != 0 {
		t.Errorf("%v audits of an informer created without checks", n)
	}
}

// The series of a check exist only while an informer with the same labels runs it, and begin at 0.
func TestSeriesOfChecks(t *testing.T) {
	obs, reg := observertest.New(t)
	newInformer := func() cache.SharedIndexInformer {
		return observertest.Keep(t, informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
	}
	count := func() map[string]int {
		n := map[string]int{}
		for _, s := range metricstest.Gather(t, reg) {
			switch s.Name {
			case catalog.InformerFreshnessChecks.Name, catalog.InformerAudits.Name, catalog.InformerAuditDuration.Name + "_count",
				catalog.InformerKeyCollisions.Name, catalog.InformerMutations.Name:
				n[s.Name]++
				if s.Value != 0 {
					t.Errorf("%s is %v", s.Name, s.Value)
				}
			}
		}
		return n
	}
	start(t, newInformer())
	if n := count(); len(n) != 0 {
		t.Errorf("series of checks that are off: %v", n)
	}
	for _, step := range []struct {
		checks collectors.Checks
		want   map[string]int
	}{
		{collectors.Checks{Mutations: time.Hour}, map[string]int{catalog.InformerMutations.Name: 1}},
		{collectors.Checks{Freshness: time.Hour, Audit: time.Hour}, map[string]int{
			catalog.InformerMutations.Name: 1, catalog.InformerAudits.Name: len(catalog.InformerAudits.AtZero),
			catalog.InformerFreshnessChecks.Name:          len(catalog.InformerFreshnessChecks.AtZero),
			catalog.InformerAuditDuration.Name + "_count": 1, catalog.InformerKeyCollisions.Name: 1,
		}},
	} {
		if err := obs.SetChecks(step.checks); err != nil {
			t.Fatal(err)
		}
		newInformer()
		if n := count(); !maps.Equal(n, step.want) {
			t.Errorf("with %+v: %v, want %v", step.checks, n, step.want)
		}
	}
	// Without an observed connection, only mutations can be checked.
	obs, reg = observertest.New(t, func(o *collectors.Options) {
		o.Checks = collectors.Checks{Freshness: time.Hour, Audit: time.Hour, Mutations: time.Hour}
	})
	observertest.Keep(t, informer.Wrap(obs, pods, cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})))
	if n, want := count(), map[string]int{catalog.InformerMutations.Name: 1}; !maps.Equal(n, want) {
		t.Errorf("without a connection: %v, want %v", n, want)
	}
}
