package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// cluster creates the objects of a cluster in fifty namespaces, with realistic metadata. Of ten objects, four are Pods, two are
// ConfigMaps, two are ReplicaSets, one is a Service and one is a Job.
type cluster struct {
	config  *rest.Config
	client  kubernetes.Interface
	objects int
}

const (
	benchNamespaces = 50
	crdGroups       = 20
	crdsPerGroup    = 5
	objectsPerCRD   = 10
)

func newCluster(b *testing.B, config *rest.Config) *cluster {
	b.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	typed := rest.CopyConfig(config)
	typed.ContentType = apiruntime.ContentTypeProtobuf
	c := &cluster{config: config, client: kubernetes.NewForConfigOrDie(typed)}
	parallel(b, benchNamespaces, func(ctx context.Context, i int) error {
		_, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace(i)}}, metav1.CreateOptions{})
		return err
	})
	return c
}

func benchNamespace(i int) string { return fmt.Sprintf("shop-%02d", i%benchNamespaces) }

// parallel calls f concurrently for 0 to n-1.
func parallel(b *testing.B, n int, f func(ctx context.Context, i int) error) {
	b.Helper()
	var next atomic.Int64
	var writers sync.WaitGroup
	for range 32 {
		writers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !b.Failed(); i = int(next.Add(1)) - 1 {
				if err := f(b.Context(), i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// grow creates objects until the cluster has the given number.
func (c *cluster) grow(b *testing.B, objects int) {
	b.Helper()
	first := c.objects
	parallel(b, objects-first, func(ctx context.Context, i int) error { return c.create(ctx, first+i) })
	c.objects = objects
}

func (c *cluster) create(ctx context.Context, i int) (err error) {
	namespace, meta := benchNamespace(i/10), benchMeta(i)
	core := c.client.CoreV1()
	switch i % 10 {
	case 0, 1, 2, 3:
		pods := core.Pods(namespace)
		pod, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: benchPodSpec(corev1.RestartPolicyAlways)}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pod.Status = benchPodStatus()
		_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	case 4, 5:
		_, err = core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: meta, Data: map[string]string{"config.yaml": strings.Repeat("listen: :8080\n", 40)},
		}, metav1.CreateOptions{})
	case 6, 7:
		sets, one := c.client.AppsV1().ReplicaSets(namespace), int32(1)
		labels := map[string]string{"app.kubernetes.io/name": "frontend", "pod-template-hash": "7d4b9c6f5d"}
		set, err := sets.Create(ctx, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: benchPodSpec(corev1.RestartPolicyAlways)},
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		set.Status = appsv1.ReplicaSetStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1, ObservedGeneration: set.Generation}
		_, err = sets.UpdateStatus(ctx, set, metav1.UpdateOptions{})
		return err
	case 8:
		meta.Name = "s-" + meta.Name
		_, err = core.Services(namespace).Create(ctx, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 8080}}, Selector: meta.Labels,
		}}, metav1.CreateOptions{})
	case 9:
		_, err = c.client.BatchV1().Jobs(namespace).Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{Spec: benchPodSpec(corev1.RestartPolicyNever)},
		}}, metav1.CreateOptions{})
	}
	return err
}

func benchMeta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: fmt.Sprintf("frontend-7d4b9c6f5d-%05x", i),
		Labels: map[string]string{
			"app.kubernetes.io/name": "frontend", "app.kubernetes.io/instance": fmt.Sprint("shop-", i%100),
			"app.kubernetes.io/managed-by": "helm", "pod-template-hash": "7d4b9c6f5d",
		},
		Annotations:     map[string]string{"checksum/config": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "frontend-7d4b9c6f5d", UID: "b0d4e0a6-5c1d-4f37-9a51-0b6a4b1f0d2c"}},
	}
}

func benchPodSpec(restart corev1.RestartPolicy) corev1.PodSpec {
	return corev1.PodSpec{NodeName: "node-1", RestartPolicy: restart, Containers: []corev1.Container{{
		Name: "frontend", Image: "registry.example.com/frontend:1.2.3",
		Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
	}}}
}

func benchPodStatus() corev1.PodStatus {
	now, started := metav1.Now(), true
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.1.2.3", PodIPs: []corev1.PodIP{{IP: "10.1.2.3"}}, HostIP: "10.0.0.1", StartTime: &now,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "frontend", Image: "registry.example.com/frontend:1.2.3", Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	for _, condition := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	return s
}

// extend creates 100 CustomResourceDefinitions in twenty groups, and ten objects of each. The observedGeneration of the objects is
// up to date.
func (c *cluster) extend(b *testing.B) {
	b.Helper()
	client := dynamic.NewForConfigOrDie(c.config)
	parallel(b, crdGroups*crdsPerGroup, func(ctx context.Context, i int) error {
		group, kind := fmt.Sprintf("g%d.example.com", i/crdsPerGroup), fmt.Sprintf("Thing%d", i%crdsPerGroup)
		definition := stack.Definition(group, kind, stack.Version{
			Name: "v1", Status: map[string]any{"observedGeneration": map[string]any{"type": "integer", "format": "int64"}},
			Subresources: map[string]any{"status": map[string]any{}},
		})
		if _, err := client.Resource(stack.Definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
			return err
		}
		things := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: strings.ToLower(kind) + "s"}).Namespace(benchNamespace(i))
		if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := things.List(ctx, metav1.ListOptions{})
			return err == nil, nil // an error means that it is not served yet
		}); err != nil {
			return err
		}
		for n := range objectsPerCRD {
			thing, err := things.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": fmt.Sprint("thing-", n)},
				"spec": map[string]any{"template": strings.Repeat("x", 4<<10)},
			}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			thing.Object["status"] = map[string]any{"observedGeneration": thing.GetGeneration()}
			if _, err := things.UpdateStatus(ctx, thing, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}
