package collectors_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

const (
	// benchPods is larger than the window of processEvents, so that no add is coalesced.
	benchPods = 200
	// firstVersion has as many digits as the versions that follow it.
	firstVersion = 1_000_000
)

// podEvents is a watch of Pods in protobuf for client-go's own client. Events are encoded in advance and no network is involved,
// so that only the cost of the client is measured.
type podEvents struct {
	frames  [benchPods][]byte
	version [benchPods]int // offset of the resource version in a frame
	sent    int
	body    *io.PipeReader
	out     *io.PipeWriter
}

func newPodEvents(tb testing.TB) *podEvents {
	tb.Helper()
	e := &podEvents{}
	e.body, e.out = io.Pipe()
	tb.Cleanup(func() { _ = e.out.Close() })
	for i := range e.frames {
		e.frames[i] = frame(tb, watch.Modified, benchPod(i))
		e.version[i] = bytes.Index(e.frames[i], []byte(strconv.Itoa(firstVersion)))
	}
	return e
}

// listerWatcher returns the ListerWatcher of an informer of Pods.
func (e *podEvents) listerWatcher(tb testing.TB) cache.ListerWatcher {
	tb.Helper()
	config := &rest.Config{Host: "http://watch.invalid", Transport: e}
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := typedcorev1.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	return cache.NewListWatchFromClient(client.RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
}

// send sends the next event. The Pods take turns.
func (e *podEvents) send(tb testing.TB) {
	i := e.sent % benchPods
	e.sent++
	_ = strconv.AppendInt(e.frames[i][:e.version[i]], int64(firstVersion+e.sent), 10)
	if _, err := e.out.Write(e.frames[i]); err != nil {
		tb.Error(err)
	}
}

// RoundTrip implements http.RoundTripper: a streaming list without objects, and then the watch.
func (e *podEvents) RoundTrip(r *http.Request) (*http.Response, error) {
	end, err := encodeFrame(watch.Bookmark, fakeapi.EndOfList(firstVersion))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {runtime.ContentTypeProtobuf + ";stream=watch"}},
		Body: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(end), e.body), e.body},
	}, nil
}

// benchPod returns a Pod like those of a Deployment: about 2 KiB in protobuf.
func benchPod(i int) *corev1.Pod {
	p := fakeapi.Pod(fmt.Sprintf("web-7d4b9c6f58-%05d", i), firstVersion)
	p.Labels = map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/version": "1.2.3", "pod-template-hash": "7d4b9c6f58"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f58", UID: "uid"}}
	fields := &metav1.FieldsV1{} // NewFieldsV1 needs client-go 0.36
	if err := fields.UnmarshalJSON(bytes.Repeat([]byte(`{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{}}}}}`), 8)); err != nil {
		panic(err)
	}
	for _, manager := range []string{"kube-controller-manager", "kubelet"} {
		p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: fields,
		})
	}
	p.Spec = corev1.PodSpec{NodeName: "node-1", ServiceAccountName: "default", Containers: []corev1.Container{{
		Name: "web", Image: "registry.example/web:1.2.3", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		Env:          []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "REGION", Value: "europe"}},
		Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "token", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
	}}}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
	}
	return p
}

func frame(tb testing.TB, t watch.EventType, object runtime.Object) []byte {
	tb.Helper()
	b, err := encodeFrame(t, object)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// encodeFrame encodes an event of a watch as the API server does.
func encodeFrame(t watch.EventType, object runtime.Object) ([]byte, error) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	raw, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), object)
	if err != nil {
		return nil, err
	}
	var out, event bytes.Buffer
	if err := info.StreamSerializer.Encode(&metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: raw}}, &event); err != nil {
		return nil, err
	}
	_, err = info.StreamSerializer.NewFrameWriter(&out).Write(event.Bytes())
	return out.Bytes(), err
}
