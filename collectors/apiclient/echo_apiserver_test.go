package apiclient_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientset "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const (
	echoes  = "k8s_client_write_echo_seconds_count{resource=configmaps}"
	without = "k8s_client_writes_without_echo{resource=configmaps}"
)

// writer writes ConfigMaps of a program that watches them with the given configuration.
type writer struct {
	clientset.ConfigMapInterface
	obs       *collectors.Observer
	registry  *prometheus.Registry
	namespace string
	watched   *rest.Config
}

func newWriter(t *testing.T, watched, written *rest.Config) *writer {
	obs, registry := observertest.New(t)
	w := &writer{obs: obs, registry: registry, namespace: stacktest.Namespace(t), watched: watched}
	written = rest.CopyConfig(written)
	written.QPS = -1
	w.ConfigMapInterface = kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, written, apiclient.Options{})).CoreV1().ConfigMaps(w.namespace)
	return w
}

// watch runs an informer of ConfigMaps until the test ends.
func (w *writer) watch(t *testing.T, options informer.FactoryOptions) {
	factory := informer.NewSharedInformerFactory(w.obs, kubernetes.NewForConfigOrDie(w.watched), 0, options)
	informers := factory.Core().V1().ConfigMaps().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() { close(stop); factory.Shutdown() })
	if !cache.WaitForCacheSync(t.Context().Done(), informers.HasSynced) {
		t.Fatal("not synced")
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestEchoOfADelayedWatch covers P9: the median echo of writes to a real API server rises by the delay of the watch, measured with the
// program's own clock.
func TestEchoOfADelayedWatch(t *testing.T) {
	const writes = 20
	means := []float64{}
	for _, c := range []struct {
		delay time.Duration
		// below is a bucket that ends below the delay: more than half of the echoes are above it.
		below string
	}{{0, ""}, {500 * time.Millisecond, "0.1"}, {5 * time.Second, "1"}} {
		t.Run(c.delay.String(), func(t *testing.T) {
			proxy, watched := stacktest.Proxied(t)
			w := newWriter(t, watched, stacktest.Config(t))
			w.watch(t, informer.FactoryOptions{Namespace: w.namespace})
			proxy.Delay(c.delay)
			var took time.Duration // the event may be on its way before the response is
			var waiting float64
			for i := range writes {
				begin := time.Now()
				must(w.Create(t.Context(), configMap(fmt.Sprint("m", i)), metav1.CreateOptions{}))(t)
				took += time.Since(begin)
				waiting = max(waiting, metricstest.Take(t, w.registry)[without])
			}
			if c.delay > 0 && waiting == 0 {
				t.Error("no write waits for its echo")
			}
			s := metricstest.Await(t, w.registry, metricstest.Snapshot{echoes: writes, without: 0})
			sum := s["k8s_client_write_echo_seconds_sum{resource=configmaps}"]
			if least := writes*c.delay.Seconds() - took.Seconds(); sum < least {
				t.Errorf("%d echoes took %v s together, want at least %v", writes, sum, least)
			}
			if short := s["k8s_client_write_echo_seconds_bucket{le="+c.below+",resource=configmaps}"]; short >= writes/2 {
				t.Errorf("%v of %d echoes took less than %s s", short, writes, c.below)
			}
			means = append(means, sum/writes)
		})
	}
	if !slices.IsSorted(means) {
		t.Errorf("mean echoes of %v s do not rise with the delay", means)
	}
}

// TestEchoesOfEachWrite covers P9: writes of each kind have one echo on each informer that sees the object, in JSON and in protobuf, and
// those that change nothing have none.
func TestEchoesOfEachWrite(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			config := stacktest.Config(t)
			config.ContentType = contentType
			w := newWriter(t, config, config)
			ctx := t.Context()
			must(w.Create(ctx, configMap("before"), metav1.CreateOptions{}))(t) // no informer watches
			if s := metricstest.Take(t, w.registry).Family("k8s_client_write_echo_seconds"); len(s) > 0 {
				t.Errorf("without an informer: %v", s)
			}
			w.watch(t, informer.FactoryOptions{Namespace: w.namespace})
			w.watch(t, informer.FactoryOptions{Namespace: stacktest.Namespace(t)})
			w.watch(t, informer.FactoryOptions{Namespace: w.namespace, TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "never=selected" }})
			count := 0.0
			expect := func(what string, more float64) {
				t.Helper()
				count += more
				metricstest.Eventually(t, w.registry, what, func(s metricstest.Snapshot) bool { return s[echoes] == count })
			}
			object := configMap("m")
			object.Finalizers = []string{"example.com/finalizer"}
			object = must(w.Create(ctx, object, metav1.CreateOptions{}))(t)
			expect("create", 1)
			object.Data = map[string]string{"k": "1"}
			object = must(w.Update(ctx, object, metav1.UpdateOptions{}))(t)
			expect("update", 1)
			must(w.Update(ctx, object, metav1.UpdateOptions{}))(t) // changes nothing
			must(w.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"k":"1"}}`), metav1.PatchOptions{}))(t)
			must(w.Patch(ctx, "before", types.MergePatchType, []byte(`{"data":null}`), metav1.PatchOptions{}))(t)
			must(w.Update(ctx, object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}))(t)
			must(w.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"k":"2"}}`), metav1.PatchOptions{}))(t)
			expect("patch", 1)
			if err := w.Delete(ctx, "m", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			expect("delete of an object with a finalizer", 1)
			// The response to the patch that removes the last finalizer has the version from before it.
			must(w.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))(t)
			if err := w.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			must(w.Create(ctx, configMap("last"), metav1.CreateOptions{}))(t)
			expect("create after two deletes without an echo", 1)
		})
	}
}

// TestEchoesOfMetadata covers P9: an informer of metadata has echoes too, after its watch was cut, and after a restart.
func TestEchoesOfMetadata(t *testing.T) {
	proxy, watched := stacktest.Proxied(t)
	w := newWriter(t, watched, stacktest.Config(t))
	run := func() (stop func()) {
		factory := informer.NewMetadataSharedInformerFactory(w.obs, metadata.NewForConfigOrDie(watched), 0, informer.FactoryOptions{Namespace: w.namespace})
		inf := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
		end := make(chan struct{})
		factory.Start(end)
		if !cache.WaitForCacheSync(t.Context().Done(), inf.HasSynced) {
			t.Fatal("not synced")
		}
		return func() { close(end); factory.Shutdown() }
	}
	write := func(name string) { must(w.Create(t.Context(), configMap(name), metav1.CreateOptions{}))(t) }
	stop := run()
	write("a")
	metricstest.Await(t, w.registry, metricstest.Snapshot{echoes: 1})
	proxy.Refuse()
	proxy.Cut()
	write("b")
	write("c")
	metricstest.Await(t, w.registry, metricstest.Snapshot{echoes: 1, without: 2})
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	metricstest.Await(t, w.registry, metricstest.Snapshot{echoes: 3, without: 0})
	stop()
	write("d") // no informer watches
	stop = run()
	defer stop()
	write("e")
	metricstest.Await(t, w.registry, metricstest.Snapshot{echoes: 4, without: 0})
}
