package e2e_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestPanelsOfServer evaluates the panels of S29 and S36 on metrics of programs at a real API server: an event that is received and
// not stored, in one of two informers; writes that change nothing; and the time from a generation to its observation.
func TestPanelsOfServer(t *testing.T) {
	t.Parallel()
	config := stacktest.Private(t, stack.Options{}).Config()
	namespace := stacktest.NamespaceIn(t, config)
	obs, registry := observertest.New(t)
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	collector, err := objects.New(registry, objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	has := func(what, metric, resource string, is func(float64) bool) {
		t.Helper()
		await.Within(t, patience, what, func(context.Context) error {
			for _, s := range metricstest.Gather(t, registry) {
				if s.Name == metric && s.Labels["informer_type"] == resource && is(s.Value) {
					return nil
				}
			}
			return fmt.Errorf("no such %s of %s", metric, resource)
		})
	}

	// This test makes the writes of a controller of Deployments.
	const resource = "deployments.apps"
	followed := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0, namespace, nil).
		ForResource(appsv1.SchemeGroupVersion.WithResource("deployments")).Informer()
	if err := followed.SetTransform(objects.Transform); err != nil {
		t.Fatal(err)
	}
	handler := collector.NewHandler(resource)
	handler.SetGenerations(true)
	if _, err := followed.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	runInformer(t, followed)
	deployments, ctx := client.AppsV1().Deployments(namespace), t.Context()
	selects := map[string]string{"app": "test"}
	d, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: selects}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selects}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	observed := 0.
	reconcile := func() {
		t.Helper()
		has("a generation that is not observed", catalog.ObjectGenerationLag.Name, resource, func(n float64) bool { return n == 1 })
		d.Status.ObservedGeneration = d.Generation
		if d, err = deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		observed++
		has("its observation", catalog.ObjectGenerationObserved.Name+"_count", resource, func(n float64) bool { return n == observed })
		if d, err = deployments.Update(ctx, d, metav1.UpdateOptions{}); err != nil { // changes nothing
			t.Fatal(err)
		}
	}
	reconcile()

	// Two informers of one process. The Transform of the first one holds up an event.
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	core := client.CoreV1().RESTClient()
	slow := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "configmaps"},
		cache.NewListWatchFromClient(core, "configmaps", namespace, fields.Everything()), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if err := slow.SetTransform(func(object any) (any, error) {
		if m, ok := object.(*corev1.ConfigMap); ok && m.Name == "slow" {
			<-released
		}
		return object, nil
	}); err != nil {
		t.Fatal(err)
	}
	runInformer(t, slow)
	t.Cleanup(release) // before the informer is stopped
	runInformer(t, informer.NewSharedIndexInformer(obs, informer.ID{Resource: "services"},
		cache.NewListWatchFromClient(core, "services", namespace, fields.Everything()), &corev1.Service{}, cache.SharedIndexInformerOptions{}))
	before := scrape(t, registry)

	d.Spec.Paused = true
	if d, err = deployments.Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile()
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slow"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	has("an event that is not stored", catalog.InformerStoreLag.Name, "configmaps", func(lag float64) bool { return lag > 0 })

	data := scrapes(before, scrape(t, registry))
	release()
	for metric, shown := range map[string]struct{ is, zero string }{
		catalog.InformerStoreLag.Name:         {is: `informer_type="configmaps"`, zero: `informer_type="services"`},
		catalog.ClientUnchangedWrites.Name:    {is: `resource="deployments.apps"`},
		catalog.ObjectGenerationObserved.Name: {is: `informer_type="deployments.apps"`},
	} {
		read := 0
		for _, b := range boards(t, dashboards.Config{}) {
			for _, q := range b.Queries {
				if !strings.Contains(q.Expr, metric) {
					continue
				}
				read++
				got, _, err := data.ask(ctx, newEngine(t), q.Plain(), nil)
				if err != nil {
					t.Fatal(err)
				}
				positive, zero := false, false
				for series, value := range got {
					positive = positive || strings.Contains(series, shown.is) && value > 0 && !math.IsInf(value, 0)
					zero = zero || shown.zero != "" && strings.Contains(series, shown.zero) && value == 0
				}
				if !positive || zero != (shown.zero != "") {
					t.Errorf("panel %q: no value above zero for %s, or not zero for %s: %v\n%s", q.Panel, shown.is, shown.zero, got, q.Plain())
				}
			}
		}
		if read == 0 {
			t.Errorf("no panel reads %s", metric)
		}
	}
}

// runInformer runs an informer until the end of the test, and waits until it has synced.
func runInformer(t *testing.T, i cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if !cache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
		t.Fatal("no sync")
	}
}

// scrape returns the series of a registry as Prometheus stores them.
func scrape(t *testing.T, g prometheus.Gatherer) model.Vector {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, families...)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// scrapes returns the series of a target that was scraped twice in each of two states.
func scrapes(before, after model.Vector) database {
	points, sets := map[string][]promql.FPoint{}, map[string]labels.Labels{}
	for i, at := range []time.Duration{-45 * time.Second, -30 * time.Second, -15 * time.Second, 0} {
		state := before
		if i >= 2 {
			state = after
		}
		for _, s := range state {
			b := labels.NewBuilder(labels.FromStrings("cluster", "local", "job", "test", "instance", "test"))
			for name, value := range s.Metric {
				b.Set(string(name), string(value))
			}
			set := b.Labels()
			sets[set.String()] = set
			points[set.String()] = append(points[set.String()], promql.FPoint{T: now.Add(at).UnixMilli(), F: float64(s.Value)})
		}
	}
	data := database{}
	for key, set := range sets {
		data.add(set, points[key])
	}
	return data
}
