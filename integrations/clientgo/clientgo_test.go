package clientgo_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/integrations/clientgo"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

var (
	obs = clientgo.New(clientgo.Options{Name: "test"})
	// The registerer of New and the gatherer of promhttp.Handler.
	registerer = prometheus.DefaultRegisterer //nolint:forbidigo // it is tested
	gatherer   = prometheus.DefaultGatherer   //nolint:forbidigo // it is tested
)

// controller has the same queue field as k8s.io/sample-controller.
type controller struct {
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

type newInformer func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer

// generatedFactory is a factory like those that informer-gen generates.
type generatedFactory struct {
	client kubernetes.Interface
	built  cache.SharedIndexInformer
}

func (f *generatedFactory) InformerFor(_ runtime.Object, newFunc newInformer) cache.SharedIndexInformer {
	if f.built == nil {
		f.built = newFunc(f.client, 0)
	}
	return f.built
}

// TestController decorates a controller with the functions of the package. This process has no provider of workqueue_*, so the
// library registers them.
func TestController(t *testing.T) {
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}})
	factory := clientgo.NewSharedInformerFactory(obs, client, 0)
	pods := factory.Core().V1().Pods().Informer()
	other := &generatedFactory{client: client}
	watched := clientgo.InformerFor(obs, other, "services.v1.example.com", client.CoreV1().Services(""))
	go watched.RunWithContext(t.Context())
	factory.Start(t.Context().Done())
	if !cache.WaitForCacheSync(t.Context().Done(), pods.HasSynced, watched.HasSynced) {
		t.Fatal("not synced")
	}

	c := controller{queue: clientgo.NewTypedRateLimitingQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())}
	for _, result := range []error{nil, errors.New("test")} {
		c.queue.Add(cache.ObjectName{Namespace: "shop", Name: "a"})
		item, _ := c.queue.Get()
		if err := clientgo.NewSyncHandler(obs, "pods", func(_ context.Context, got cache.ObjectName) error {
			if got != item {
				t.Errorf("item %v, want %v", got, item)
			}
			return result
		})(t.Context(), item); !errors.Is(err, result) {
			t.Errorf("error %v, want %v", err, result)
		}
		c.queue.Done(item)
	}
	defer c.queue.ShutDown()

	s := metricstest.Gather(t, gatherer)
	for _, want := range []struct {
		value  float64
		metric string
		labels []string
	}{
		{1, "k8s_informer_objects", []string{"name", "test", "informer_type", "pods"}},
		{1, "k8s_informer_synced", []string{"name", "test", "informer_type", "services.example.com"}},
		{2, "workqueue_adds_total", []string{"name", "pods"}},
		{1, "controller_reconcile_total", []string{"name", "test", "controller", "pods", "result", "success"}},
		{1, "controller_reconcile_total", []string{"name", "test", "controller", "pods", "result", "error"}},
		{2, "controller_reconcile_total", []string{"name", "test", "controller", "pods"}},
	} {
		if got := s.Sum(want.metric, want.labels...); got != want.value {
			t.Errorf("%s%v is %v, want %v", want.metric, want.labels, got, want.value)
		}
	}

	// A second Observer with the same registry reports its queues, too.
	second, err := collectors.New(registerer, collectors.Options{Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	q := clientgo.NewTypedRateLimitingQueue(second, "nodes", workqueue.DefaultTypedControllerRateLimiter[string]())
	defer q.ShutDown()
	q.Add("a")
	if got := metricstest.Gather(t, gatherer).Sum("workqueue_adds_total", "name", "nodes"); got != 1 {
		t.Errorf("%v adds of the second Observer's queue, want 1", got)
	}
}

// TestOptions: each argument and option arrives where it is used.
func TestOptions(t *testing.T) {
	checked := clientgo.New(clientgo.Options{Name: "checked", Checks: clientgo.DefaultChecks(), Omit: []string{"k8s_informer_objects"}})
	client := fake.NewClientset()
	factory := clientgo.NewSharedInformerFactory(checked, client, 7*time.Minute)
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
		t.Fatal(err)
	}
	plain := clientgo.NewSharedInformerFactory(clientgo.New(clientgo.Options{Name: "plain"}), client, 0).Core().V1().Pods().Informer()
	go pods.RunWithContext(t.Context())
	go plain.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), pods.HasSynced, plain.HasSynced) {
		t.Fatal("not synced")
	}
	own := &countingLimiter{TypedRateLimiter: workqueue.DefaultTypedControllerRateLimiter[string]()}
	q := clientgo.NewTypedRateLimitingQueue(checked, "nodes", own)
	defer q.ShutDown()
	if q.AddRateLimited("a"); own.n != 1 {
		t.Errorf("%d calls of the rate limiter, want 1", own.n)
	}
	s := metricstest.Gather(t, gatherer)
	for metric, want := range map[string]int{
		"k8s_informer_freshness_checks_total": 1, // collectors.DefaultChecks has both, and no sampling for mutations
		"k8s_informer_audits_total":           3,
		"k8s_informer_mutations_total":        0,
		"k8s_informer_objects":                0, // omitted
	} {
		if got := len(s.Select(metric, "name", "checked")); got != want {
			t.Errorf("%s has %d series, want %d", metric, got, want)
		}
		if got := len(s.Select(metric, "name", "plain")); got != 0 && metric != "k8s_informer_objects" {
			t.Errorf("%s has %d series, although checks are off by default", metric, got)
		}
	}
	if got := len(s.Select("k8s_informer_objects", "name", "plain")); got != 1 {
		t.Errorf("%d series of the informer without options, want 1", got)
	}
	if got := s.Sum("k8s_informer_handler_resync_period_seconds", "name", "checked"); got != 420 {
		t.Errorf("the resync period is %v s, want 420", got)
	}
}

type countingLimiter struct {
	workqueue.TypedRateLimiter[string]
	n int
}

func (l *countingLimiter) When(item string) time.Duration {
	l.n++
	return l.TypedRateLimiter.When(item)
}

// TestPanics: functions that return no error panic if they cannot register.
func TestPanics(t *testing.T) {
	client := fake.NewClientset()
	factory := &generatedFactory{client: client}
	for name, f := range map[string]func(){
		"the name of another Observer": func() { clientgo.New(clientgo.Options{Name: "test"}) },
		"an invalid option":            func() { clientgo.New(clientgo.Options{Name: "other", Checks: collectors.Checks{Audit: -1}}) },
		"a resource without version": func() {
			clientgo.InformerFor(obs, factory, "services", client.CoreV1().Services(""))
		},
		"a type that has an informer": func() {
			clientgo.InformerFor(obs, &generatedFactory{built: watchedAlready}, "services.v1.example.com", client.CoreV1().Services(""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

var watchedAlready = cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Service{}, 0, cache.Indexers{})

// TestDefaultRateLimiter: each typed client has its own limiter, as without the library, and waits for all of them are
// reported. A limiter that WrapConfig decorates is not reported twice.
func TestDefaultRateLimiter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	defer server.Close()
	waits := func() (n, seconds float64) {
		s := metricstest.Gather(t, gatherer)
		return s.Sum("k8s_client_throttle_wait_seconds_count"), s.Sum("k8s_client_throttle_wait_seconds_sum")
	}
	config := clientgo.WrapConfig(obs, &rest.Config{Host: server.URL})
	before, beforeSeconds := waits() // other tests in this process have clients, too
	if config.RateLimiter != nil {
		t.Error("all clients share a limiter")
	}
	client := kubernetes.NewForConfigOrDie(config)
	const requests = float64(rest.DefaultBurst + 2)
	var all sync.WaitGroup // at the same time, because the limiter recovers while a slow machine sends a request
	for range int(requests) {
		all.Go(func() { _ = client.CoreV1().RESTClient().Delete().AbsPath("/api/v1/x").Do(t.Context()).Error() })
	}
	all.Wait()
	if n, seconds := waits(); n-before != requests || seconds-beforeSeconds < 0.1 {
		t.Errorf("%v waits of %v s, want %v waits of about 0.6 s", n-before, seconds-beforeSeconds, requests)
	}
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(100, 1)
	client = kubernetes.NewForConfigOrDie(clientgo.WrapConfig(obs, config))
	_ = client.CoreV1().RESTClient().Delete().AbsPath("/api/v1/x").Do(t.Context()).Error()
	if n, _ := waits(); n-before != requests+1 {
		t.Errorf("%v waits, want %v", n-before, requests+1)
	}
}
