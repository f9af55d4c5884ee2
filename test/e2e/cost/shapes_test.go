package cost_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/metrics"
	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// resources are what a program and the exporter of a cluster watch.
var resources = []string{
	"configmaps", "endpointslices.discovery.k8s.io", "namespaces", "nodes", "pods", "secrets", "serviceaccounts", "services",
	"deployments.apps", "replicasets.apps",
}

const (
	programJob, exporterJob, auditJob = "shop", "informer-exporter", "audit"
	replicas                          = 2
)

// shape is a series of each cluster: its labels without the cluster, and the value at the beginning.
type shape struct {
	labels  labels.Labels
	value   float64
	counter bool
}

// measured are the shapes of a cluster, once they have been scraped.
var measured struct {
	sync.Mutex
	shapes []shape
}

// shapesOfACluster returns the series that Prometheus has of each cluster: two replicas of a program with the library, which
// has ten informers and one controller, two of the exporter, and two observers of the audit logs of API servers.
func shapesOfACluster(t *testing.T) []shape {
	t.Helper()
	measured.Lock()
	defer measured.Unlock()
	if measured.shapes == nil {
		measured.shapes = scrapeCluster(t)
	}
	return measured.shapes
}

func scrapeCluster(t *testing.T) []shape {
	t.Helper()
	config := stacktest.Config(t)
	namespace := stacktest.Namespace(t)
	var list []shape
	for job, families := range map[string][]*dto.MetricFamily{
		programJob: runProgram(t, rest.CopyConfig(config), namespace), exporterJob: runExporter(t, rest.CopyConfig(config)),
		auditJob: readAuditLog(t),
	} {
		for n := range replicas {
			target := labels.FromStrings("job", job, "instance", fmt.Sprintf("%s-%d:8080", job, n))
			for _, f := range families {
				list = append(list, shapesOf(f, target)...)
			}
			for _, name := range []string{"up", "scrape_duration_seconds", "scrape_samples_scraped"} { // Prometheus adds them
				list = append(list, shape{labels: labels.NewBuilder(target).Set(model.MetricNameLabel, name).Labels(), value: 1})
			}
		}
	}
	return list
}

// runProgram runs a controller with ten informers until it has handled events, and returns what it exposes.
func runProgram(t *testing.T, config *rest.Config, namespace string) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	obs, err := collectors.New(registry, collectors.Options{Name: programJob, UpstreamMetrics: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	defer cancel()

	q := queue.NewTypedRateLimitingQueue(obs, programJob, workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	defer q.ShutDown()
	sync := controllers.NewSyncHandler(obs, programJob, func(context.Context, string) error { return nil }, controllers.Options{})
	go func() {
		for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
			if err := sync(ctx, item); err == nil {
				q.Forget(item)
			}
			q.Done(item)
		}
	}()

	factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{})
	core, apps := factory.Core().V1(), factory.Apps().V1()
	for _, inf := range []cache.SharedIndexInformer{
		core.ConfigMaps().Informer(), factory.Discovery().V1().EndpointSlices().Informer(), core.Namespaces().Informer(), core.Nodes().Informer(),
		core.Pods().Informer(), core.Secrets().Informer(), core.ServiceAccounts().Informer(), core.Services().Informer(),
		apps.Deployments().Informer(), apps.ReplicaSets().Informer(),
	} {
		if _, err := inf.AddEventHandler(informer.NamedHandler(programJob, cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			key, _ := cache.MetaNamespaceKeyFunc(object)
			q.Add(key)
		}})); err != nil {
			t.Fatal(err)
		}
	}
	lock := leader.NewLock(obs, &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: programJob}, Client: client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "replica-1"},
	}, leader.Options{})
	go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cost"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a handled event and a leader", func() bool {
		s := metricstest.Gather(t, registry)
		return s.Sum("k8s_informer_event_lag_seconds_count", "informer_type", "configmaps") > 0 && s.Sum("controller_leader") == 1 &&
			s.Sum("controller_reconcile_total", "result", "success") > 0 && s.Sum("k8s_informer_synced") == float64(len(resources))
	})
	return gather(t, registry)
}

// runExporter runs the exporter until all resources are synced, and returns what it exposes.
func runExporter(t *testing.T, rest *rest.Config) []*dto.MetricFamily {
	t.Helper()
	watched := make([]config.Resource, len(resources))
	for i, name := range resources {
		watched[i] = config.Resource{Name: name}
	}
	e, err := exporter.New(exporter.Options{REST: rest, Config: config.Config{Resources: watched}})
	if err != nil {
		t.Fatal(err)
	}
	e.Start(t.Context())
	defer func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	await.True(t, "the exporter to settle", func() bool { return e.Confirmed(t.Context(), 0) == nil })
	return gather(t, e.Gatherer())
}

// readAuditLog returns what an observer of the sample of an audit log exposes.
func readAuditLog(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	file, err := os.Open("../../../examples/audit/audit.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	tracker := clients.New(clients.Options{})
	lines := bufio.NewScanner(unzipped)
	for lines.Scan() {
		var e event.Event
		if ok, _ := event.DecodeLine(lines.Bytes(), &e); ok {
			tracker.Observe(&e)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.New(tracker, metrics.Series))
	return gather(t, registry)
}

func gather(t *testing.T, from prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// shapesOf returns the series of a family, as Prometheus names them.
func shapesOf(f *dto.MetricFamily, target labels.Labels) (list []shape) {
	for _, m := range f.GetMetric() {
		b := labels.NewBuilder(target)
		for _, l := range m.GetLabel() {
			b.Set(l.GetName(), l.GetValue())
		}
		own := b.Labels()
		add := func(suffix, le string, value float64, counter bool) {
			b := labels.NewBuilder(own).Set(model.MetricNameLabel, f.GetName()+suffix).Set(labels.BucketLabel, le)
			list = append(list, shape{b.Labels(), value, counter})
		}
		switch f.GetType() {
		case dto.MetricType_HISTOGRAM:
			h := m.GetHistogram()
			all := float64(h.GetSampleCount())
			for _, bucket := range h.GetBucket() {
				add("_bucket", upper(bucket.GetUpperBound()), float64(bucket.GetCumulativeCount()), true)
			}
			if n := len(h.GetBucket()); n > 0 {
				add("_bucket", "+Inf", all, true)
			}
			add("_count", "", all, true)
			add("_sum", "", h.GetSampleSum(), true)
		case dto.MetricType_COUNTER:
			add("", "", m.GetCounter().GetValue(), true)
		case dto.MetricType_SUMMARY: // of Go's runtime; no rule or dashboard reads their quantiles
			add("_count", "", float64(m.GetSummary().GetSampleCount()), true)
			add("_sum", "", m.GetSummary().GetSampleSum(), true)
		default:
			add("", "", m.GetGauge().GetValue()+m.GetUntyped().GetValue(), false)
		}
	}
	return list
}

// upper writes a bound as Prometheus 3 does: 5 as 5.0.
func upper(bound float64) string {
	text := strconv.FormatFloat(bound, 'g', -1, 64)
	for _, c := range text {
		if c == '.' || c == 'e' {
			return text
		}
	}
	return text + ".0"
}
