package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// S22: a thousand informers with all checks are started and stopped, and leave no goroutine and no series. This test runs
// alone because it counts the goroutines of the process.
func TestThousandInformers(t *testing.T) {
	proof(t)
	const informers = 1000
	server := stacktest.Config(t)
	known := goleak.IgnoreCurrent()
	r := newBareRig(t, collectors.Checks{Freshness: time.Minute, Audit: time.Minute, Mutations: time.Minute})
	client := kubernetes.NewForConfigOrDie(r.through(options{server: server}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running sync.WaitGroup
	for n := range informers {
		namespace := fmt.Sprint("one-of-many-", n)
		id := informer.For(corev1.SchemeGroupVersion.WithResource("configmaps"), namespace)
		inf := informer.NewSharedIndexInformer(r.observer, id, configMaps(client, namespace), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { inf.RunWithContext(ctx) })
	}
	await.True(t, "all are synced and connected", func() bool {
		n := 0
		for _, status := range informer.Statuses(r.observer) {
			if status.Synced && status.Connected {
				n++
			}
		}
		return n == informers
	})
	if n, err := testutil.GatherAndCount(r.registry, prefix+"synced"); n != informers || err != nil {
		t.Errorf("%d series of %d informers, %v", n, informers, err)
	}
	shown(t, prefix+"synced", isNow, 1)
	cancel()
	running.Wait()
	if s := r.now(); len(s) != 0 {
		t.Errorf("series are left:\n%s", s)
	}
	if err := r.proxy.Close(); err != nil { // and with it the client's connections
		t.Error(err)
	}
	leaktest.None(t, known)
}
