package core_test

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// The trace context of an object is found for all of its Go types, without an allocation.
func TestTraceparent(t *testing.T) {
	const want = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	annotations := map[string]string{"tracing.k8s.io/traceparent": want}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
	dynamic := &unstructured.Unstructured{Object: map[string]any{}}
	dynamic.SetAnnotations(annotations)
	tracing := core.New(prometheus.NewRegistry(), core.Options{Name: "a", Logger: slog.New(slog.DiscardHandler), Tracer: &spantest.Tracer{}}).Tracing
	for name, tc := range map[string]struct {
		object any
		want   string
	}{
		"typed": {pod, want}, "unstructured": {dynamic, want}, "tombstone": {cache.DeletedFinalStateUnknown{Obj: pod}, want},
		"no annotation": {&corev1.Pod{}, ""}, "no metadata": {&unstructured.Unstructured{}, ""}, "no object": {"text", ""},
	} {
		if got := tracing.Traceparent(tc.object); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if n := testing.AllocsPerRun(100, func() { tracing.Traceparent(tc.object) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if got := (*core.Tracing)(nil).Traceparent(pod); got != "" {
		t.Errorf("without tracing: %q", got)
	}
}
