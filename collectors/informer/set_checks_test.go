package informer_test

import (
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
