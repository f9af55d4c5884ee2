package apiclient_test

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestListsAndWatchesByVersion covers S26: lists and watches of a real API server are counted by the version that they request.
func TestListsAndWatchesByVersion(t *testing.T) {
	obs, registry := observertest.New(t)
	maps := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, stacktest.Config(t), apiclient.Options{})).CoreV1().ConfigMaps(stacktest.Namespace(t))
	for _, name := range []string{"a", "b"} {
		must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))(t)
	}
	list := func(o metav1.ListOptions) *corev1.ConfigMapList { return must(maps.List(t.Context(), o))(t) }
	watch := func(o metav1.ListOptions) { must(maps.Watch(t.Context(), o))(t).Stop() }
	version := list(metav1.ListOptions{}).ResourceVersion
	list(metav1.ListOptions{ResourceVersion: "0"})
	list(metav1.ListOptions{ResourceVersion: version})
	list(metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	list(metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	list(metav1.ListOptions{Limit: 1, Continue: list(metav1.ListOptions{Limit: 1}).Continue})
	watch(metav1.ListOptions{ResourceVersion: version})
	watch(metav1.ListOptions{ResourceVersion: "0"})
	watch(metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})

	series := func(verb, version string) string {
		return "k8s_client_reads_total{resource=configmaps,resource_version=" + version + ",verb=" + verb + "}"
	}
	metricstest.Take(t, registry).Family("k8s_client_reads_total").Equal(t, metricstest.Snapshot{
		series("list", "unset"): 2, series("list", "any"): 1, series("list", "not_older_than"): 2, series("list", "exact"): 1,
		series("list", "continue"): 1, series("watch", "exact"): 1, series("watch", "any"): 1, series("watch", "streaming"): 1,
	})
}

// TestBytesOfLists covers S25: a list that a real API server compresses counts as many bytes as without compression, with another
// value of the label encoding. The bytes on the wire are those that a client without decompression receives.
func TestBytesOfLists(t *testing.T) {
	obs, registry := observertest.New(t)
	namespace := stacktest.Namespace(t)
	maps := func(compression bool) func() int {
		config := stacktest.Config(t)
		config.DisableCompression = !compression
		client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{CompressedBytes: true})).CoreV1()
		return func() int {
			return len(must(client.RESTClient().Get().Namespace(namespace).Resource("configmaps").DoRaw(t.Context()))(t))
		}
	}
	compressed, plain := maps(true), maps(false)
	small := plain()
	big := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Data: map[string]string{"k": strings.Repeat("value ", 50_000)}}
	direct := kubernetes.NewForConfigOrDie(stacktest.Config(t)).CoreV1()
	must(direct.ConfigMaps(namespace).Create(t.Context(), big, metav1.CreateOptions{}))(t)
	wire := len(must(direct.RESTClient().Get().Namespace(namespace).Resource("configmaps").SetHeader("Accept-Encoding", "gzip").DoRaw(t.Context()))(t))
	size := plain()
	if got := compressed(); got != size {
		t.Errorf("%d bytes with compression, %d without", got, size)
	}
	series := func(encoding string) string {
		return "k8s_client_read_bytes_total{encoding=" + encoding + ",resource=configmaps}"
	}
	metricstest.Take(t, registry).Family("k8s_client_read_bytes_total").Equal(t, metricstest.Snapshot{
		series("identity"): float64(small + size), series("gzip"): float64(size),
	})
	// The versions of the two lists may differ in their number of digits.
	if got := metricstest.Take(t, registry)["k8s_client_compressed_bytes_total{resource=configmaps}"]; math.Abs(got-float64(wire)) > 20 || wire > size/10 {
		t.Errorf("%v bytes on the wire, want %d of %d", got, wire, size)
	}
}

// TestUnchangedWrites covers S36 with a real API server: updates and patches that do not change the object are counted, in JSON and
// in protobuf, and no others.
func TestUnchangedWrites(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) {
			obs, registry := observertest.New(t)
			config := stacktest.Config(t)
			config.ContentType = contentType
			client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
			services := client.CoreV1().Services(stacktest.Namespace(t))
			ctx := t.Context()
			service := must(services.Create(ctx, &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "s", Annotations: map[string]string{"metadata": `{"resourceVersion":"1"}`}},
				Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
			}, metav1.CreateOptions{}))(t)
			service = must(services.Update(ctx, service, metav1.UpdateOptions{}))(t)       // unchanged
			service = must(services.UpdateStatus(ctx, service, metav1.UpdateOptions{}))(t) // unchanged
			must(services.Patch(ctx, "s", types.MergePatchType, []byte(`{"metadata":{"labels":null,"resourceVersion":"`+service.ResourceVersion+`"}}`), metav1.PatchOptions{}))(t)
			must(services.Patch(ctx, "s", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}))(t) // unchanged, without a version
			service.Labels = map[string]string{"k": "v"}
			must(services.Update(ctx, service, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}))(t)
			service = must(services.Update(ctx, service, metav1.UpdateOptions{}))(t) // changed
			service.ResourceVersion = ""
			must(services.Update(ctx, service, metav1.UpdateOptions{}))(t) // unchanged, without a version
			metricstest.Take(t, registry).Family("k8s_client_unchanged_writes_total").Equal(t, metricstest.Snapshot{
				"k8s_client_unchanged_writes_total{resource=services,subresource=}":       4,
				"k8s_client_unchanged_writes_total{resource=services,subresource=status}": 1,
			})
		})
	}
}

// TestUnchangedPatches covers S36: patches of each type and applies that change nothing are counted although they carry no version, and
// those that change the object are not: neither when another client has changed it in between.
func TestUnchangedPatches(t *testing.T) {
	obs, registry := observertest.New(t)
	config := stacktest.Config(t)
	namespace := stacktest.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{})).CoreV1().ConfigMaps(namespace)
	others := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Data: map[string]string{"k": "0"}}, metav1.CreateOptions{}))(t)
	patch := func(kind types.PatchType, value string, options metav1.PatchOptions) {
		t.Helper()
		body := `{"data":{"k":"` + value + `"}}`
		switch kind {
		case types.JSONPatchType:
			body = `[{"op":"replace","path":"/data/k","value":"` + value + `"}]`
		case types.ApplyPatchType:
			body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"` + value + `"}}`
			options.FieldManager, options.Force = "test", new(true)
		}
		must(maps.Patch(t.Context(), "m", kind, []byte(body), options))(t)
	}
	count := func(when string, want float64) {
		t.Helper()
		if got := metricstest.Take(t, registry).Family("k8s_client_unchanged_writes_total").Sum(); got != want {
			t.Errorf("%s: %v unchanged writes, want %v", when, got, want)
		}
	}
	want := 0.0
	for i, kind := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType} {
		value := strconv.Itoa(i + 1)
		patch(kind, value, metav1.PatchOptions{})
		count(string(kind)+", changed", want)
		for range 3 {
			patch(kind, value, metav1.PatchOptions{})
			want++
		}
		patch(kind, "dry", metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		count(string(kind), want)
		must(others.Patch(t.Context(), "m", types.MergePatchType, []byte(`{"data":{"k":"other"}}`), metav1.PatchOptions{}))(t)
		patch(kind, value, metav1.PatchOptions{})
		count(string(kind)+", after another client", want)
	}
}

// TestStatusThroughTheMainResource covers S46: the API server answers a status that is written through the main resource with 200 and
// ignores it, of a built-in resource and of a custom one.
func TestStatusThroughTheMainResource(t *testing.T) {
	config := stacktest.Config(t)
	obs, registry := observertest.New(t)
	namespace := stacktest.Namespace(t)
	gadgets := newGadgets(t, config, "ignored.example.com")
	client := dynamic.NewForConfigOrDie(apiclient.WrapConfig(obs, config, apiclient.Options{}))
	for resource, object := range map[schema.GroupVersionResource]map[string]any{
		gadgets: {"apiVersion": gadgets.GroupVersion().String(), "kind": "Gadget"},
		corev1.SchemeGroupVersion.WithResource("services"): {"apiVersion": "v1", "kind": "Service",
			"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}},
	} {
		object["metadata"] = map[string]any{"name": "o"}
		objects := client.Resource(resource).Namespace(namespace)
		o := must(objects.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}))(t)
		o.Object["status"] = map[string]any{"replicas": int64(5), "conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
		answer := must(objects.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
		if conditions, _, _ := unstructured.NestedSlice(answer.Object, "status", "conditions"); len(conditions) > 0 {
			t.Errorf("%s: the status was written", resource.Resource)
		}
		series := "k8s_client_unchanged_writes_total{resource=" + resource.GroupResource().String() + ",subresource=}"
		if n := metricstest.Take(t, registry)[series]; n != 1 {
			t.Errorf("%s: %v unchanged writes, want 1", resource.Resource, n)
		}
	}
}

// TestVersionsOfBodies: the version of an object is that in its metadata, even if the response arrives byte by byte. Other bodies
// are not counted.
func TestVersionsOfBodies(t *testing.T) {
	for _, c := range []struct {
		sent, answered string
		want           float64
	}{
		{`{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"7"}}`, 1},
		{`{"data":{"metadata":{"resourceVersion":"8"},"t":"}\"{"},"metadata":{"labels":{"resourceVersion":"9"},"resourceVersion":"7"}}`, `{ "metadata" : { "resourceVersion" : "7" } }`, 1},
		{`{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"8"}}`, 0},
		{`{"data":{"resourceVersion":"8"},"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"7"}}`, 1},
		{`{"metadata":{"name":"resourceVersion","x":"7"},"resourceVersion":"7"}`, `{"metadata":{"name":"resourceVersion","x":"7"},"resourceVersion":"7"}`, 0},
		{`{"metadata":{"resourceVersion":null,"name":"p"}}`, `{"metadata":{"resourceVersion":null,"name":"p"}}`, 0},
		{`{"metadata":{}}`, `{"metadata":{}}`, 0},
		{`{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"7"},"spec":{"a":{"metadata":{"resourceVersion":"7"}}}}`, 1},
		{`[{"metadata":{"resourceVersion":"7"}}]`, `{"metadata":{"resourceVersion":"7"}}`, 0},
		{"k8s\x00\x12\xff", "k8s\x00\x12\xff", 0},
		{"k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x0a", "k8s\x00", 0},
		{"", "", 0},
		{`}}}"`, `]]]"\`, 0},
	} {
		obs, registry := observertest.New(t)
		transport := apiclient.WrapTransport(obs, fakeTransport(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(c.answered)))}, nil
		}))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/api/v1/namespaces/n/pods/p", strings.NewReader(c.sent))
		if err != nil {
			t.Fatal(err)
		}
		response := must(transport.RoundTrip(request))(t) //nolint:bodyclose // in memory
		if got := must(io.ReadAll(response.Body))(t); string(got) != c.answered {
			t.Errorf("the caller reads %q instead of %q", got, c.answered)
		}
		if got := metricstest.Take(t, registry).Family("k8s_client_unchanged_writes_total").Sum(); got != c.want {
			t.Errorf("%s answered with %s: %v unchanged writes, want %v", c.sent, c.answered, got, c.want)
		}
	}
}
