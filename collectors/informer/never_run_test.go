package informer_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// An informer that is not needed leaves no series when it is run with a canceled context.
func TestRunWithACanceledContext(t *testing.T) {
	for name, create := range map[string]func(*collectors.Observer) interface{ RunWithContext(context.Context) }{
		"NewSharedIndexInformer": func(obs *collectors.Observer) interface{ RunWithContext(context.Context) } {
			return informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		},
		"Wrap": func(obs *collectors.Observer) interface{ RunWithContext(context.Context) } {
			return informer.Wrap(obs, pods, cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{}))
		},
		"NewInformerWithOptions": func(obs *collectors.Observer) interface{ RunWithContext(context.Context) } {
			_, c := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{ListerWatcher: fakeapi.NewServer(), ObjectType: &corev1.Pod{}, Handler: cache.ResourceEventHandlerFuncs{}})
			return c
		},
		"NewSharedInformerFactory": func(obs *collectors.Observer) interface{ RunWithContext(context.Context) } {
			return informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.Options{}).Core().V1().Pods().Informer()
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			inf := create(obs)
			if s, ok := inf.(cache.SharedIndexInformer); ok {
				addHandler(t, s, cache.ResourceEventHandlerFuncs{})
			}
			if len(metricstest.Take(t, reg)) == 0 {
				t.Fatal("there are no series")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			inf.RunWithContext(ctx)
			metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
		})
	}
}
