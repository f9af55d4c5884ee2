package footprint

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

func meta(kind string, i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: fmt.Sprint("shop-", i%20), Name: fmt.Sprintf("%s-%d-6c8f9d7b5-x%dk2p", kind, i/10, i), UID: types.UID(fmt.Sprintf("0b6cfa26-2f0e-4d9b-8f3a-%012d", i)),
		ResourceVersion: fmt.Sprint(100_000 + i), Generation: 2, CreationTimestamp: metav1.Unix(1_700_000_000, 0),
		Labels:      map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": fmt.Sprint("web-", i%50), "pod-template-hash": "6c8f9d7b5"},
		Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": strings.Repeat("a1", 32)},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6c8f9d7b5", UID: "0b6cfa26-2f0e-4d9b-8f3a-000000000000", Controller: new(bool),
		}},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", Time: &metav1.Time{}, FieldsV1: fields(
				`{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{},"f:image":{}}}}}`)},
			{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Subresource: "status", FieldsType: "FieldsV1", FieldsV1: fields(
				`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{}}},"f:podIP":{},"f:phase":{}}}`)},
		},
	}
}

// fields returns managed fields. NewFieldsV1 needs client-go 0.36.
func fields(raw string) *metav1.FieldsV1 {
	var f metav1.FieldsV1
	_ = f.UnmarshalJSON([]byte(raw)) // copies
	return &f
}

func pod(i int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta("web", i)}
	for c := range 1 + i%3 {
		container := corev1.Container{
			Name: fmt.Sprint("container-", c), Image: "registry.example.com/shop/web:v1.2.3", Args: []string{"--port=8080", "--log-level=info"},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")}},
			Ports:     []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		}
		for e := range 12 {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprint("SETTING_", e), Value: strings.Repeat("v", e)})
		}
		p.Spec.Containers = append(p.Spec.Containers, container)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: "registry.example.com/shop/web@sha256:" + strings.Repeat("0a", 32), ContainerID: "containerd://" + strings.Repeat("b1", 32),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	p.Spec.NodeName, p.Spec.Volumes = fmt.Sprint("node-", i%100), []corev1.Volume{{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	for _, t := range []corev1.PodConditionType{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: "True", LastTransitionTime: metav1.Unix(1_700_000_000, 0)})
	}
	p.Status.Phase, p.Status.PodIP, p.Status.PodIPs = "Running", "10.0.0.1", []corev1.PodIP{{IP: "10.0.0.1"}}
	return p
}

func configMap(i int) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: meta("config", i), Data: map[string]string{}}
	for k := range i % 20 {
		c.Data[fmt.Sprint("file-", k, ".yaml")] = strings.Repeat("key: value\n", 1+i%37)
	}
	return c
}

// custom is a fat custom resource.
func custom(t testing.TB, i int) []byte {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	m, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Pod{ObjectMeta: meta("widget", i)})
	if err != nil {
		t.Fatal(err)
	}
	u.Object["metadata"] = m["metadata"]
	var routes, conditions []any
	for r := range 20 + i%30 {
		routes = append(routes, map[string]any{
			"match": fmt.Sprintf("Host(`shop-%d.example.com`) && PathPrefix(`/v%d`)", r, r), "kind": "Rule", "priority": int64(r * 100), "weight": .5, "enabled": true,
			"services": []any{map[string]any{"name": "web", "port": int64(8080), "scheme": "https", "sticky": map[string]any{"cookie": map[string]any{"httpOnly": true, "name": "session"}}}},
		})
	}
	for c := range 6 {
		conditions = append(conditions, map[string]any{"type": fmt.Sprint("Condition", c), "status": "True", "reason": "Reconciled", "message": strings.Repeat("the object is in its desired state ", 3), "lastTransitionTime": "2026-01-01T00:00:00Z"})
	}
	u.Object["spec"] = map[string]any{"routes": routes, "entryPoints": []any{"web", "websecure"}, "replicas": int64(3)}
	u.Object["status"] = map[string]any{"conditions": conditions, "observedGeneration": int64(i)}
	data, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// heap returns the live heap.
func heap() float64 {
	var m runtime.MemStats
	for range 3 { // of finalizers and pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// S51: the estimate is within 15 % of the heap, for objects decoded as client-go does.
func TestEstimateAgainstHeap(t *testing.T) {
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	encoded := func(o apiruntime.Object) []byte {
		var b bytes.Buffer
		if err := codec.Encode(o, &b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	typed := func(data []byte) (apiruntime.Object, error) {
		o, _, err := codec.Decode(data, nil, nil)
		return o, err
	}
	for name, c := range map[string]struct {
		n      int
		encode func(i int) []byte
		decode func([]byte) (apiruntime.Object, error)
		parts  []string // the largest first
	}{
		"Pods": {1000, func(i int) []byte {
			p := pod(i)
			p.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
			return encoded(p)
		}, typed, []string{Spec, Status, ManagedFields}},
		"ConfigMaps": {2000, func(i int) []byte {
			p := configMap(i)
			p.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			return encoded(p)
		}, typed, []string{Data, ManagedFields}},
		"small": {5000, func(i int) []byte {
			p := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("c-", i)}}
			p.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			return encoded(p)
		}, typed, []string{Metadata}},
		"custom": {200, func(i int) []byte { return custom(t, i) }, func(data []byte) (apiruntime.Object, error) {
			u := &unstructured.Unstructured{}
			return u, u.UnmarshalJSON(data)
		}, []string{Spec, Status, Metadata}},
	} {
		t.Run(name, func(t *testing.T) {
			documents := make([][]byte, c.n)
			for i := range documents {
				documents[i] = c.encode(i)
			}
			store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			before := heap()
			for _, data := range documents {
				o, err := c.decode(data)
				if err != nil {
					t.Fatal(err)
				}
				if err := store.Add(o); err != nil {
					t.Fatal(err)
				}
			}
			held := heap() - before
			const estimates = 10 // of random samples
			estimate, total := Bytes{}, 0.
			for range estimates {
				for part, bytes := range Estimate(store) {
					estimate[part] += bytes / estimates
					total += bytes / estimates
				}
			}
			runtime.KeepAlive(documents)
			t.Logf("%s: %.0f bytes per object, estimated %.0f: %v", name, held/float64(c.n), total/float64(c.n), estimate)
			if math.Abs(total/held-1) > .15 {
				t.Errorf("estimated %.0f, but the heap holds %.0f: %+.0f %%", total, held, 100*(total/held-1))
			}
			for i := range c.parts[1:] {
				if estimate[c.parts[i]] <= estimate[c.parts[i+1]] {
					t.Errorf("%s is not larger than %s: %v", c.parts[i], c.parts[i+1], estimate)
				}
			}
		})
	}
}
