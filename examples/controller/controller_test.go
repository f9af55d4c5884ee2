package main

import (
	"context"
	"fmt"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// replica is a running controller.
type replica struct {
	*testing.T
	registry *prometheus.Registry
	stop     context.CancelFunc
	// ended receives the result of run.
	ended chan error
}

// start runs a replica with its Lease in a namespace of the test. change may modify the replica before it runs.
func start(t *testing.T, config *rest.Config, o options, change func(*replica, *controller)) *replica {
	t.Helper()
	r := &replica{T: t, ended: make(chan error, 1)}
	var obs *collectors.Observer
	obs, r.registry = observertest.New(t)
	c, err := newController(obs, config, o)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r, c)
	}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- c.run(ctx) }()
	return r
}

func testOptions(namespace string) options {
	return options{
		namespace: namespace, identity: "test", workers: 1, maxRetries: 1000,
		backoff: time.Second, cleanup: time.Second, grace: 30 * time.Second, lease: 15 * time.Second,
	}
}

// end stops the replica and returns its result.
func (r *replica) end() error {
	r.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(await.Timeout):
		r.Fatal("run does not return")
		return nil
	}
}

// sum adds up the series of a metric with labels, given as alternating names and values.
func (r *replica) sum(metric string, labels ...string) float64 {
	r.Helper()
	return metricstest.Gather(r, r.registry).Sum(metric, labels...)
}

func (r *replica) awaitLeadership() {
	r.Helper()
	await.True(r, "leadership", func() bool { return r.sum("controller_leader") == 1 })
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
	await.NoError(t, "widgets are served", func() error {
		_, err := client.Resource(widgets).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// createWidget creates a Widget and waits until the controller has reconciled it.
func createWidget(t *testing.T, client dynamic.ResourceInterface, name string, spec map[string]any) {
	t.Helper()
	w := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgets.GroupVersion().String(), "kind": "Widget",
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if _, err := client.Create(t.Context(), w, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.NoError(t, name+" is ready", func() error {
		w, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		phase, _, err := unstructured.NestedString(w.Object, "status", "phase")
		if phase != "Ready" || !slices.Contains(w.GetFinalizers(), finalizer) {
			return fmt.Errorf("phase %q, finalizers %v, %w", phase, w.GetFinalizers(), err)
		}
		return nil
	})
}

// holder returns the holder of the Lease, "" if it is released.
func holder(t *testing.T, config *rest.Config, namespace string) string {
	t.Helper()
	lease, err := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace).Get(context.Background(), program, metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// TestFinalizerRemovedByHand covers S16: a cleanup that hangs is overdue and does not block the only worker. It is no
// longer overdue once its finalizer has been removed by hand. In the end, the lock is released.
func TestFinalizerRemovedByHand(t *testing.T) {
	config, namespace := stacktest.Config(t), stacktest.Namespace(t)
	all := dynamic.NewForConfigOrDie(config)
	defineWidgets(t, all)
	client := all.Resource(widgets).Namespace(namespace)
	r := start(t, config, testOptions(namespace), nil)
	createWidget(t, client, "hangs", map[string]any{"content": "x", "cleanup": "hang"})
	if err := client.Delete(t.Context(), "hangs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	overdue := func() float64 { return r.sum("controller_finalizer_overdue", "finalizer", finalizer) }
	await.True(t, "the cleanup is overdue", func() bool { return overdue() == 1 })
	await.True(t, "the cleanup is rolled back", func() bool {
		return r.sum("controller_finalizer_rollback_duration_seconds_count", "result", "success") > 0
	})
	createWidget(t, client, "another", map[string]any{"content": "x"}) // by the same worker
	none := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := client.Patch(t.Context(), "hangs", types.MergePatchType, none, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "no cleanup is overdue", func() bool { return overdue() == 0 })
	if r.sum("controller_finalizer_attempts_total", "finalizer", finalizer, "result", "timeout") == 0 {
		t.Error("no attempt has timed out")
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if h := holder(t, config, namespace); h != "" {
		t.Errorf("%s holds the lock", h)
	}
}

// withoutWidgets answers requests for Widgets like an API server without their definition.
type withoutWidgets struct {
	http.RoundTripper
	requests *atomic.Int64
}

func (w withoutWidgets) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/apis/"+widgets.Group) {
		return w.RoundTripper.RoundTrip(r)
	}
	w.requests.Add(1)
	return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

// TestNoLeaderWithoutCaches: a replica that cannot list does not become a candidate, and stops on request.
func TestNoLeaderWithoutCaches(t *testing.T) {
	config, namespace := rest.CopyConfig(stacktest.Config(t)), stacktest.Namespace(t)
	var requests atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutWidgets{next, &requests} })
	r := start(t, config, testOptions(namespace), nil)
	await.True(t, "repeated requests for Widgets", func() bool { return requests.Load() > 3 })
	_, err := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace).Get(t.Context(), program, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a replica without caches is a candidate: %v", err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// order records in which order watches end and the Lease is written.
type order struct {
	mu     sync.Mutex
	events []string
}

const (
	watchEnded   = "watch ended"
	leaseWritten = "lease written"
)

func (o *order) record(event string) {
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
		o.record(leaseWritten)
	}
	response, err := o.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" {
		response.Body = watchBody{response.Body, o.order}
	}
	return response, err
}

// watchBody is slow to close, so that a step that does not wait for it runs first.
type watchBody struct {
	io.ReadCloser
	*order
}

func (b watchBody) Close() error {
	time.Sleep(200 * time.Millisecond)
	b.record(watchEnded)
	return b.ReadCloser.Close()
}

// TestLockIsReleasedLast: a replica holds the lock until its informers have stopped.
func TestLockIsReleasedLast(t *testing.T) {
	config, namespace := rest.CopyConfig(stacktest.Config(t)), stacktest.Namespace(t)
	defineWidgets(t, dynamic.NewForConfigOrDie(config))
	o := &order{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return ordered{next, o} })
	r := start(t, config, testOptions(namespace), nil)
	r.awaitLeadership()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := o.events[len(o.events)-1]; last != leaseWritten || !slices.Contains(o.events, watchEnded) {
		t.Errorf("the events are %v", o.events)
	}
}
