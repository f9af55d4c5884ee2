package bench_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkController runs a decorated controller with one informer of 10,000 Pods on a real API server (B7). A client writes to
// 50 Pods a second; four workers answer each write with one write. It reports the time from the request of the client
// to the end of the handler, and the duration of reconciles.
func BenchmarkController(b *testing.B) { benchmark(b, controller) }

func controller(r *run) {
	const perSecond, workers = 50, 4
	config := stacktest.Config(r)
	client, namespace := protobuf(config), stacktest.Namespace(r)
	pods, writes := r.size(10_000, 50), r.size(30*perSecond, 20)
	r.fill(client, namespace, pods)

	obs, _ := observertest.New(r)
	factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: namespace})
	inf, lister := factory.Core().V1().Pods().Informer(), factory.Core().V1().Pods().Lister()
	q := queue.NewTypedRateLimitingQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	var mu sync.Mutex
	begun := map[string]time.Time{} // by the value that was written
	var handled, reconciled []time.Duration
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		p := object.(*corev1.Pod)
		mu.Lock()
		defer mu.Unlock()
		if at, found := begun[p.Annotations["wanted"]]; found {
			delete(begun, p.Annotations["wanted"])
			q.Add(p.Name)
			handled = append(handled, time.Since(at))
		}
	}}); err != nil {
		r.Fatal(err)
	}
	annotate := func(name, key, value string) error {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
		_, err := client.CoreV1().Pods(namespace).Patch(r.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	reconcile := controllers.NewSyncHandler(obs, "pods", func(_ context.Context, name string) error {
		p, err := lister.Pods(namespace).Get(name)
		if err != nil {
			return err
		}
		return annotate(name, "done", p.Annotations["wanted"])
	}, controllers.Options{MaxWorkers: workers})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	begin := time.Now()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
		r.Fatal("not synced")
	}
	r.report(time.Since(begin).Seconds(), "sync-s")
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for {
				name, shutdown := q.Get()
				if shutdown {
					return
				}
				started := time.Now()
				err := reconcile(ctx, name)
				took := time.Since(started)
				if err != nil {
					r.Error(err)
				}
				q.Forget(name)
				q.Done(name)
				mu.Lock()
				reconciled = append(reconciled, took)
				mu.Unlock()
			}
		})
	}
	begin = time.Now()
	parallel(workers, writes, func(i int) {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / perSecond)))
		value := fmt.Sprint("write-", i)
		mu.Lock()
		begun[value] = time.Now()
		mu.Unlock()
		if err := annotate(podName((i*7919)%pods), "wanted", value); err != nil {
			r.Error(err)
		}
	})
	await.True(r, "every write is reconciled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return r.Failed() || len(reconciled) == writes
	})
	q.ShutDown()
	running.Wait()
	cancel()
	factory.Shutdown()
	r.latencies("handled", handled)
	r.latencies("reconcile", reconciled)
	total := time.Duration(0)
	for _, d := range reconciled {
		total += d
	}
	r.report(milliseconds(total)/float64(len(reconciled)), "reconcile-mean-ms")
}
