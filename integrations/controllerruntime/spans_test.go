package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestSpans follows updates of one ConfigMap, and of the Secret of the same name, through both queues of controller-runtime.
func TestSpans(t *testing.T) {
	for name, priority := range map[string]bool{"priority queue": true, "queue of client-go": false} {
		t.Run(name, func(t *testing.T) { testSpans(t, priority) })
	}
}

func testSpans(t *testing.T, priority bool) {
	namespace, tracer := stacktest.Namespace(t), &spantest.Tracer{}
	options := ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}}
	options.Controller.UsePriorityQueue = &priority
	mgr, err := controllerruntime.NewManager(stacktest.Config(t), quiet(options), controllerruntime.Options{Name: "test", Registerer: prometheus.NewPedanticRegistry(), Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	m := &runningManager{Manager: mgr, t: t}
	busy, release := make(chan struct{}), make(chan error)
	sameName := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
	named := builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == "a" }))
	if err := ctrl.NewControllerManagedBy(m).Named("traced").For(&corev1.ConfigMap{}, named).Watches(&corev1.Secret{}, sameName, named).
		Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			if err := m.GetAPIReader().Get(ctx, r.NamespacedName, &corev1.ConfigMap{}); err != nil {
				return reconcile.Result{}, err
			}
			busy <- struct{}{}
			return reconcile.Result{}, <-release
		})); err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "a"}
	admin, err := client.New(stacktest.Config(t), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(o client.Object) {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	delivered := func(n int) (all []spantest.Span) {
		await.True(t, fmt.Sprintf("%d deliveries", n), func() bool {
			all = nil
			for _, s := range tracer.Ended(spans.Deliver) {
				if s.Object == namespace+"/a" {
					all = append(all, s)
				}
			}
			return len(all) >= n
		})
		return all
	}
	m.run()
	configMap := &corev1.ConfigMap{ObjectMeta: meta}
	create(configMap)
	<-busy
	first := delivered(1)

	// While the worker is busy, twenty updates and a Secret.
	for n := range 20 {
		if err := admin.Patch(t.Context(), configMap, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n))); err != nil {
			t.Fatal(err)
		}
	}
	create(&corev1.Secret{ObjectMeta: meta})
	second := delivered(22)[1:]
	release <- nil
	<-busy
	release <- errors.New("failed on purpose") // and is retried
	<-busy
	release <- nil
	m.stop()

	reconciles := tracer.Ended(spans.Reconcile)
	if len(reconciles) != 3 {
		t.Fatalf("%d reconciles, want 3", len(reconciles))
	}
	for n, causes := range [][]spantest.Span{first, second, reconciles[1:2]} {
		s := reconciles[n]
		relation := spans.Event
		if n == 2 {
			relation = spans.Retried
		}
		want := map[spans.Link]bool{}
		for _, cause := range causes {
			want[spans.Link{SpanContext: cause.Context, Relation: relation}] = true
		}
		for _, l := range s.Links {
			if !want[l] {
				t.Errorf("reconcile %d has an unknown link %v", n, l)
			}
			delete(want, l)
		}
		if len(want) != 0 || s.Name != "traced" || s.Object != namespace+"/a" || s.Failed != (n == 1) {
			t.Errorf("reconcile %d lacks %d links: %+v", n, len(want), s)
		}
		children := 0
		for _, child := range append(tracer.Ended(spans.Wait), tracer.Ended(spans.Request)...) {
			if child.Parent == s.Context && !child.End.After(s.End) {
				children++
			}
		}
		if children != 2 {
			t.Errorf("reconcile %d has %d children, want a wait and a request", n, children)
		}
	}
}
