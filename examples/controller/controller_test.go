package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// replica is a running controller.
type replica struct {
	*testing.T
	registry *prometheus.Registry
	// stop is the signal, and ended what run returned.
	stop  context.CancelFunc
	ended chan error
}

// start runs a replica whose Lease is in a namespace of its own.
func start(t *testing.T, config *rest.Config, namespace string) *replica {
	r := &replica{T: t, registry: prometheus.NewPedanticRegistry(), ended: make(chan error, 1)}
	obs, err := collectors.New(r.registry, collectors.Options{Name: program})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newController(obs, config, options{
		namespace: namespace, identity: "test", workers: 1, maxRetries: 1000,
		backoff: time.Second, cleanUp: time.Second, grace: 30 * time.Second, lease: 15 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- c.run(ctx) }()
	return r
}

// end sends the signal and waits.
func (r *replica) end() {
	r.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			r.Error(err)
		}
	case <-time.After(time.Minute):
		r.Fatal("it does not end")
	}
}

func (r *replica) until(what string, done func(ctx context.Context) (bool, error)) {
	r.Helper()
	if err := wait.PollUntilContextTimeout(r.Context(), 20*time.Millisecond, time.Minute, true, done); err != nil {
		r.Fatalf("%s: %v", what, err)
	}
}

// value adds up the series of a metric that have a label value.
func (r *replica) value(metric, label string) (sum float64, err error) {
	families, err := r.registry.Gather()
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		for _, m := range f.GetMetric() {
			if slices.ContainsFunc(m.GetLabel(), func(pair *dto.LabelPair) bool { return pair.GetValue() == label }) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum, err
}

// defineWidgets creates the CustomResourceDefinition, once for all tests.
func defineWidgets(t *testing.T, client dynamic.Interface) {
	t.Helper()
	content, err := os.ReadFile("widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition unstructured.Unstructured
	if err := yaml.Unmarshal(content, &definition.Object); err != nil {
		t.Fatal(err)
	}
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := client.Resource(crds).Create(t.Context(), &definition, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(widgets).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestFinalizerRemovedByHand: a clean-up that hangs is overdue, and does not keep the only worker; it is no longer once
// somebody has removed the finalizer. In the end the lock is released.
func TestFinalizerRemovedByHand(t *testing.T) {
	config, namespace := stacktest.Config(t), stacktest.Namespace(t)
	all := dynamic.NewForConfigOrDie(config)
	defineWidgets(t, all)
	client := all.Resource(widgets).Namespace(namespace)
	r := start(t, config, namespace)
	create := func(name string, spec map[string]any) {
		t.Helper()
		w := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": widgets.GroupVersion().String(), "kind": "Widget",
			"metadata": map[string]any{"name": name}, "spec": spec,
		}}
		if _, err := client.Create(t.Context(), w, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		r.until(name+" is ready", func(ctx context.Context) (bool, error) {
			w, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			phase, _, err := unstructured.NestedString(w.Object, "status", "phase")
			return phase == "Ready" && slices.Contains(w.GetFinalizers(), finalizer), err
		})
	}
	create("hangs", map[string]any{"content": "x", "cleanUp": "hang"})
	if err := client.Delete(t.Context(), "hangs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	overdue := func(want float64) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) {
			n, err := r.value("controller_finalizer_overdue", finalizer)
			return n == want, err
		}
	}
	r.until("it is overdue", overdue(1))
	r.until("its clean-up was rolled back", func(context.Context) (bool, error) {
		n, err := r.value("controller_finalizer_rollback_duration_seconds", "success")
		return n > 0, err
	})
	create("another", map[string]any{"content": "x"}) // by the same worker
	none := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := client.Patch(t.Context(), "hangs", types.MergePatchType, none, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.until("it is not overdue any more", overdue(0))
	if n, err := r.value("controller_finalizer_attempts_total", "timeout"); n == 0 || err != nil {
		t.Errorf("%v attempts ran out of time, %v", n, err)
	}
	r.end()
	lease, err := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace).Get(t.Context(), program, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.Errorf("%s holds the lock", *holder)
	}
}

// withoutWidgets answers requests for Widgets as an API server does that does not know them.
type withoutWidgets struct {
	http.RoundTripper
	asked *atomic.Int64
}

func (w withoutWidgets) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/apis/"+widgets.Group) {
		return w.RoundTripper.RoundTrip(r)
	}
	w.asked.Add(1)
	return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

// TestNoLeaderWithoutCaches: a replica that cannot list is no candidate, and ends when it is told to.
func TestNoLeaderWithoutCaches(t *testing.T) {
	config, namespace := rest.CopyConfig(stacktest.Config(t)), stacktest.Namespace(t)
	var asked atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutWidgets{next, &asked} })
	r := start(t, config, namespace)
	r.until("it has asked for Widgets again and again", func(context.Context) (bool, error) { return asked.Load() > 3, nil })
	_, err := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace).Get(t.Context(), program, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a replica without caches is a candidate: %v", err)
	}
	r.end()
}

// order remembers in which order watches ended and the Lease was written.
type order struct {
	mu     sync.Mutex
	events []string
}

const (
	watchEnded   = "watch ended"
	leaseWritten = "lease written"
)

func (o *order) note(event string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, event)
}

type ordered struct {
	http.RoundTripper
	*order
}

func (o ordered) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/leases/") {
		o.note(leaseWritten)
	}
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" {
		response.Body = watchBody{response.Body, o.order}
	}
	return response, err
}

// watchBody is slow to end, so that whoever does not wait for it is first.
type watchBody struct {
	io.ReadCloser
	*order
}

func (b watchBody) Close() error {
	time.Sleep(200 * time.Millisecond)
	b.note(watchEnded)
	return b.ReadCloser.Close()
}

// TestLockIsReleasedLast: the lock is the replica's until its informers have ended.
func TestLockIsReleasedLast(t *testing.T) {
	config, namespace := rest.CopyConfig(stacktest.Config(t)), stacktest.Namespace(t)
	defineWidgets(t, dynamic.NewForConfigOrDie(config))
	o := &order{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return ordered{next, o} })
	r := start(t, config, namespace)
	r.until("it leads", func(context.Context) (bool, error) {
		n, err := r.value("controller_leader", program)
		return n == 1, err
	})
	r.end()
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := o.events[len(o.events)-1]; last != leaseWritten || !slices.Contains(o.events, watchEnded) {
		t.Errorf("in the end: %v", o.events)
	}
}
