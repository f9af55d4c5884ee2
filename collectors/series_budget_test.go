package collectors_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// A controller with two informers and everything decorated and checked, after events, reads, reconciles with each result, a
// cleanup, a lost watch and renewals of its lock, stays within its budget of series.
func TestSeriesOfAController(t *testing.T) {
	const budget = 350
	obs, registry := observertest.New(t, observertest.Upstream, func(o *collectors.Options) {
		o.Checks = collectors.Checks{Freshness: 200 * time.Millisecond, Audit: 200 * time.Millisecond, Mutations: 200 * time.Millisecond}
	})
	namespace := stacktest.Namespace(t)
	proxy, server := stacktest.Proxied(t)
	decorated := func(config *rest.Config) kubernetes.Interface {
		config = rest.CopyConfig(config)
		config.QPS = 100
		return kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	}
	client := decorated(server)
	ctx, cancel := context.WithCancel(t.Context())

	factory := informer.NewSharedInformerFactory(obs, client, time.Second, informer.FactoryOptions{Namespace: namespace})
	q := queue.NewTypedRateLimitingQueue(obs, "widgets", workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second), queue.Options[string]{})
	var calls atomic.Int32
	cleanup := controllers.NewFinalizer(obs, "widgets", "example.com/cleanup", func(context.Context, *corev1.ConfigMap) error {
		if calls.Load()%2 == 0 {
			return errors.New("not yet")
		}
		return nil
	}, controllers.FinalizerOptions{})
	reads := factory.Core().V1().ConfigMaps()
	reconcile := controllers.NewSyncHandler(obs, "widgets", func(ctx context.Context, key string) error {
		calls.Add(1)
		object, exists, err := reads.Informer().GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		_ = reads.Informer().GetIndexer().List()
		return cleanup(ctx, object.(*corev1.ConfigMap))
	}, controllers.Options{MaxWorkers: 1})
	enqueue := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			q.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}
	for _, inf := range []cache.SharedIndexInformer{reads.Informer(), factory.Core().V1().Pods().Informer()} {
		if _, err := inf.AddEventHandler(informer.NamedHandler("widgets", handler)); err != nil {
			t.Fatal(err)
		}
	}
	lock := leader.NewLock(obs, &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "widgets"}, Client: decorated(stacktest.Config(t)).CoordinationV1(), // no renewal is lost with the watch
		LockConfig: resourcelock.ResourceLockConfig{Identity: "test"},
	}, leader.Options{})
	led := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() { close(led) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	worked := make(chan struct{})
	go elector.Run(ctx)
	go func() {
		defer close(worked)
		for key, shutdown := q.Get(); !shutdown; key, shutdown = q.Get() {
			if err := reconcile(ctx, key); err != nil {
				q.AddRateLimited(key)
			} else {
				q.Forget(key)
			}
			q.Done(key)
		}
	}()
	factory.Start(ctx.Done())
	t.Cleanup(func() { cancel(); factory.Shutdown(); q.ShutDown(); <-worked; <-led })
	factory.WaitForCacheSync(ctx.Done())

	plain := kubernetes.NewForConfigOrDie(stacktest.Config(t)).CoreV1().ConfigMaps(namespace)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "object", Finalizers: []string{"example.com/cleanup"}}}
	if _, err := plain.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	proxy.Reset()
	if err := plain.Delete(t.Context(), "object", metav1.DeleteOptions{}); err != nil { // remains, blocked by the finalizer
		t.Fatal(err)
	}
	for metric, series := range map[string]int{
		"k8s_informer_handler_last_resync_timestamp_seconds": 1,
		"k8s_informer_audit_differences":                     2,
		"k8s_informer_freshness_checks_total":                2,
		"controller_finalizer_attempts_total":                3,
		"controller_backoff_seconds_count":                   1,
		"controller_leader_renew_duration_seconds_count":     1,
	} {
		await.True(t, metric, func() bool { return len(metricstest.Gather(t, registry).Select(metric)) >= series },
			func() string { return metricstest.Take(t, registry).String() })
	}
	await.True(t, "second watches", func() bool { return metricstest.Gather(t, registry).Sum("k8s_informer_watches_total") >= 4 })
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if n := metricstest.Series(families); n > budget || n < budget/2 {
		t.Errorf("the controller has %d series, want at most %d:\n%s", n, budget, metricstest.Take(t, registry))
	} else {
		t.Logf("%d series", n)
	}
}
