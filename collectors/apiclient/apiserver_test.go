package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// must returns the result of a call that must not fail.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fails verifies the error of a call.
func fails[V any](_ V, err error) func(testing.TB, func(error) bool) {
	return func(t testing.TB, as func(error) bool) {
		t.Helper()
		if !as(err) {
			t.Fatalf("unexpected: %v", err)
		}
	}
}

// TestRequestsAsTheServerCountsThem covers S17 with every verb on a resource that only this test uses: the client counts the
// same requests by verb, subresource and code as the API server.
func TestRequestsAsTheServerCountsThem(t *testing.T) {
	config := stacktest.Config(t)
	namespace := stacktest.Namespace(t)
	gadgets := newGadgets(t, config, namespace+".example.com")
	obs, registry := observertest.New(t)
	objects := dynamic.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{})).Resource(gadgets).Namespace(namespace)
	ctx := t.Context()
	gadget := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gadgets.GroupVersion().String(), "kind": "Gadget", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"replicas": int64(1)},
		}}
	}

	stale := must(objects.Create(ctx, gadget("a"), metav1.CreateOptions{}))(t)
	must(objects.Create(ctx, gadget("b"), metav1.CreateOptions{}))(t)
	fails(objects.Create(ctx, gadget("a"), metav1.CreateOptions{}))(t, apierrors.IsAlreadyExists)
	current := must(objects.Get(ctx, "a", metav1.GetOptions{}))(t)
	fails(objects.Get(ctx, "missing", metav1.GetOptions{}))(t, apierrors.IsNotFound)
	list := must(objects.List(ctx, metav1.ListOptions{}))(t)
	stream := must(objects.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))(t)
	current.Object["spec"] = map[string]any{"replicas": int64(2)}
	current = must(objects.Update(ctx, current, metav1.UpdateOptions{}))(t)
	if event := <-stream.ResultChan(); event.Type != watch.Modified {
		t.Errorf("the watch delivered %v", event.Type)
	}
	stream.Stop()
	fails(objects.Update(ctx, stale, metav1.UpdateOptions{}))(t, apierrors.IsConflict)
	current.Object["status"] = map[string]any{"replicas": int64(2)}
	must(objects.UpdateStatus(ctx, current, metav1.UpdateOptions{}))(t)
	fails(objects.UpdateStatus(ctx, current, metav1.UpdateOptions{}))(t, apierrors.IsConflict)
	must(objects.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"k":"v"}}}`), metav1.PatchOptions{}))(t)
	must(objects.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}, "scale"))(t)
	must(objects.Get(ctx, "a", metav1.GetOptions{}, "scale"))(t)
	must(objects.Apply(ctx, "c", gadget("c"), metav1.ApplyOptions{FieldManager: "test"}))(t)
	must(0, objects.Delete(ctx, "b", metav1.DeleteOptions{}))(t)
	must(0, objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))(t)

	resource := gadgets.GroupResource().String()
	series := func(subresource, verb, code string) string {
		return "k8s_client_requests_total{code=" + code + ",resource=" + resource + ",subresource=" + subresource + ",verb=" + verb + "}"
	}
	want := metricstest.Snapshot{
		series("", "create", "201"): 2, series("", "create", "409"): 1,
		series("", "get", "200"): 1, series("", "get", "404"): 1, series("scale", "get", "200"): 1,
		series("", "list", "200"): 1, series("", "watch", "200"): 1,
		series("", "update", "200"): 1, series("", "update", "409"): 1,
		series("status", "update", "200"): 1, series("status", "update", "409"): 1,
		series("", "patch", "200"): 1, series("", "patch", "201"): 1, series("scale", "patch", "200"): 1,
		series("", "delete", "200"): 1, series("", "deletecollection", "200"): 1,
	}
	got := metricstest.Take(t, registry)
	got.Family("k8s_client_requests_total").Equal(t, want)
	conflicts := "k8s_client_conflicts_total{resource=" + resource + ",subresource="
	got.Family("k8s_client_conflicts_total").Equal(t, metricstest.Snapshot{conflicts + "}": 1, conflicts + "status}": 1, conflicts + "scale}": 0})
	if requests, durations := want.Sum(), got.Family("k8s_client_request_duration_seconds_count").Sum(); durations != requests {
		t.Errorf("%v durations were observed of %v requests", durations, requests)
	}

	// The server counts a request when it has ended, including watches. For custom resources it counts the deletion of a
	// collection as a delete.
	want[series("", "delete", "200")]++
	delete(want, series("", "deletecollection", "200"))
	await.NoError(t, "the server counts the same requests", func() error {
		server := requestsOf(t, config, gadgets.GroupResource(), series)
		if len(server.Since(want)) > 0 || len(want.Since(server)) > 0 {
			return fmt.Errorf("the server counted:\n%sthe client:\n%s", server, want)
		}
		return nil
	})
}

// newGadgets defines a resource in its own group, with a status and a scale. Unlike stacktest.Define it sends no requests for
// the resource, which the server would count.
func newGadgets(t *testing.T, config *rest.Config, group string) schema.GroupVersionResource {
	t.Helper()
	crd := stack.Definition(group, "Gadget", stack.Version{Name: "v1", Subresources: map[string]any{
		"status": map[string]any{},
		"scale":  map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
	}})
	crds := dynamic.NewForConfigOrDie(config).Resource(stack.Definitions)
	must(crds.Create(t.Context(), crd, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		if err := crds.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	discovery := kubernetes.NewForConfigOrDie(config).Discovery()
	await.NoError(t, "the resource is served", func() error { // the condition Established is true earlier
		served, err := discovery.ServerResourcesForGroupVersion(group + "/v1")
		if err == nil && len(served.APIResources) == 0 {
			err = errors.New("the group has no resources")
		}
		return err
	})
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
}

// requestsOf returns the requests for a resource that the API server has counted, as series of the client.
func requestsOf(t *testing.T, config *rest.Config, resource schema.GroupResource, series func(subresource, verb, code string) string) metricstest.Snapshot {
	t.Helper()
	verbs := map[string]string{
		"GET": "get", "LIST": "list", "WATCH": "watch", "POST": "create", "PUT": "update", "PATCH": "patch", "APPLY": "patch",
		"DELETE": "delete",
	}
	text := must(kubernetes.NewForConfigOrDie(config).Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context()))(t)
	samples := must(metricstest.Parse(bytes.NewReader(text)))(t)
	found := metricstest.Snapshot{}
	for _, s := range samples.Select("apiserver_request_total", "group", resource.Group, "resource", resource.Resource) {
		found[series(s.Labels["subresource"], verbs[s.Labels["verb"]], s.Labels["code"])] += s.Value
	}
	return found
}

// TestRequestsOfTheCoreGroup covers S17 with subresources and paths of Kubernetes' own APIs, and with a real 429: an eviction
// that a disruption budget does not allow.
func TestRequestsOfTheCoreGroup(t *testing.T) {
	config := stacktest.Config(t)
	namespace := stacktest.Namespace(t)
	obs, registry := observertest.New(t)
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	ctx := t.Context()

	must(client.Discovery().ServerVersion())(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "p"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
	pod = must(client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}))(t)
	pod.Status.Phase = corev1.PodRunning // a disruption budget does not protect pending Pods
	must(client.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}))(t)
	none := intstr.FromInt32(0)
	must(client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		},
	}, metav1.CreateOptions{}))(t)
	// Without a retry: client-go would wait ten seconds for it.
	fails(0, client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name("p").SubResource("eviction").MaxRetries(0).
		Body(&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}).Do(ctx).Error())(t, apierrors.IsTooManyRequests)
	// The deprecated form of a watch.
	stream := must(client.CoreV1().RESTClient().Get().AbsPath("/api/v1/watch/namespaces", namespace, "pods").
		Param("timeoutSeconds", "1").Stream(ctx))(t)
	_ = stream.Close()
	// The subresource of a namespace takes the place of a resource in the path.
	space := must(client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}))(t)
	must(client.CoreV1().Namespaces().Finalize(ctx, space, metav1.UpdateOptions{}))(t)

	metricstest.Take(t, registry).Family("k8s_client_requests_total").Equal(t, metricstest.Snapshot{
		"k8s_client_requests_total{code=200,resource=non-resource,subresource=,verb=get}":                   1,
		"k8s_client_requests_total{code=201,resource=pods,subresource=,verb=create}":                        1,
		"k8s_client_requests_total{code=200,resource=pods,subresource=status,verb=update}":                  1,
		"k8s_client_requests_total{code=201,resource=poddisruptionbudgets.policy,subresource=,verb=create}": 1,
		"k8s_client_requests_total{code=429,resource=pods,subresource=eviction,verb=create}":                1,
		"k8s_client_requests_total{code=200,resource=pods,subresource=,verb=watch}":                         1,
		"k8s_client_requests_total{code=200,resource=namespaces,subresource=,verb=get}":                     1,
		"k8s_client_requests_total{code=200,resource=namespaces,subresource=finalize,verb=update}":          1,
	})
}

// TestRequestsWithoutAnAnswer covers S17 with network errors, which are counted and returned unchanged.
func TestRequestsWithoutAnAnswer(t *testing.T) {
	proxy, config := stacktest.Proxied(t)
	obs, registry := observertest.New(t)
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	get := func(timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	}
	series := func(code string) string {
		return "k8s_client_requests_total{code=" + code + ",resource=namespaces,subresource=,verb=get}"
	}
	must(0, get(await.Timeout))(t)
	proxy.HalfOpen()
	fails(0, get(3*time.Second))(t, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) })
	proxy.Cut()
	fails(0, get(3*time.Second))(t, func(err error) bool { return err != nil })
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	must(0, get(await.Timeout))(t)
	got := metricstest.Take(t, registry)
	if got[series("200")] != 2 || got[series("error")] < 2 || len(got.Family("k8s_client_requests_total")) != 2 {
		t.Errorf("after two responses and two failures:\n%s", got.Family("k8s_client_requests_total"))
	}
}

// TestThrottledByItself covers S17: a client with a rate of 1/s and no burst waits about a second for each request except
// the first.
func TestThrottledByItself(t *testing.T) {
	config := rest.CopyConfig(stacktest.Config(t))
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(1, 1)
	obs, registry := observertest.New(t)
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	begin := time.Now()
	for range 3 {
		must(client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}))(t)
	}
	took := time.Since(begin).Seconds()
	got := metricstest.Take(t, registry)
	if count, sum := got["k8s_client_throttle_wait_seconds_count"], got["k8s_client_throttle_wait_seconds_sum"]; count != 3 || sum <= 0 || sum > took {
		t.Errorf("%v waits took %v s of %v s", count, sum, took)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fails(client.CoreV1().Namespaces().Get(ended, "default", metav1.GetOptions{}))(t, func(err error) bool { return errors.Is(err, context.Canceled) })
	metricstest.Take(t, registry).Since(got).Equal(t, metricstest.Snapshot{"k8s_client_throttle_wait_seconds_count": 1})
}

// TestClientsShareSeries: two clients of one Observer share their series, and each keeps its own rate limit.
func TestClientsShareSeries(t *testing.T) {
	obs, registry := observertest.New(t)
	config := rest.CopyConfig(stacktest.Config(t))
	config.QPS, config.Burst = 0.001, 1
	wrapped := apiclient.WrapConfig(obs, config, apiclient.Options{})
	typed, untyped := kubernetes.NewForConfigOrDie(wrapped), dynamic.NewForConfigOrDie(wrapped)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(typed.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}))(t)
	must(untyped.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Get(ctx, "default", metav1.GetOptions{}))(t)
	metricstest.Take(t, registry).Since(nil).Equal(t, metricstest.Snapshot{
		"k8s_client_requests_total{code=200,resource=namespaces,subresource=,verb=get}": 2,
		"k8s_client_request_duration_seconds_count{verb=get}":                           2,
	})
	if config.WrapTransport != nil || wrapped.RateLimiter != nil {
		t.Error("the caller's configuration was changed, or a limiter added")
	}
}
