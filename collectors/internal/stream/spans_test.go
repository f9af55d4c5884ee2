package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// A list is a span of its own, whether it fails or not.
func TestSpansOfLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer := &spantest.Tracer{}
		o, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
		obs := core.Of(o)
		conn := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "shop"), "pods", "shop"))
		answer := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
		lw := conn.Decorate(&cache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			time.Sleep(time.Second)
			if answer != nil {
				return nil, answer
			}
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: make([]corev1.Pod, 2)}, nil
		}})
		begin := time.Now()
		_, _ = lw.ListWithContext(t.Context(), metav1.ListOptions{})
		answer = nil
		_, _ = lw.ListWithContext(t.Context(), metav1.ListOptions{})
		all := tracer.Ended(spans.List)
		if len(all) != 2 {
			t.Fatalf("%d spans, want 2: %+v", len(all), all)
		}
		for i, want := range []spans.Result{{Failed: true, ErrorType: errclass.ErrorForbidden}, {Items: 2}} {
			want.End = all[i].End
			start, end := all[i].Start.Sub(begin), all[i].End.Sub(begin)
			if all[i].Result != want || all[i].Name != "pods" || all[i].WatchNamespace != "shop" || start != time.Duration(i)*time.Second || end != start+time.Second {
				t.Errorf("%+v from %v to %v, want %+v for a second", all[i], start, end, want)
			}
		}
	})
}
