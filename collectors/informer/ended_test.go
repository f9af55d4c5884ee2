package informer_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Once all informers that ran have ended, their series are gone, and one reports that until another one runs.
func TestAllInformersEnded(t *testing.T) {
	const ended = "k8s_informer_ended"
	obs, registry := observertest.New(t)
	start := func(resource string) (stop func()) {
		t.Helper()
		factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{})
		if _, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource(resource)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		stop = func() { cancel(); factory.Shutdown() }
		t.Cleanup(stop)
		return stop
	}
	expect := func(when string, want bool) {
		t.Helper()
		got := false
		for _, sample := range metricstest.Gather(t, registry) {
			got = got || sample.Name == ended && sample.Value == 1
		}
		if got != want {
			t.Errorf("%s: %s is reported: %v", when, ended, got)
		}
	}
	expect("without informers", false)
	stopPods, stopSecrets := start("pods"), start("secrets")
	expect("both run", false)
	stopPods()
	expect("one runs", false)
	stopSecrets()
	expect("none runs", true)
	informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{}).Core().V1().Pods().Informer()
	expect("another one is created", true)
	stopPods = start("pods")
	expect("another one runs", false)
	stopPods()
	expect("it has ended", true)
}
