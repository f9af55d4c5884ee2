package load

import (
	"context"
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// kind defines how one kind of object is written, and read from a cache.
type kind struct {
	name   string
	create func(ctx context.Context, namespace, name string) error
	update func(ctx context.Context, namespace, name string) error
	delete func(ctx context.Context, namespace, name string) error
	// cached reports whether an object is in the cache. It is nil for kinds that are not cached.
	cached func(namespace, name string) bool
	// count lists the objects of a namespace from the cache and returns their number.
	count func(namespace string) int
}

// kinds returns pods, configmaps and deployments, in this order.
func (l *Load) kinds() []kind {
	core, apps := l.options.Client.CoreV1(), l.options.Client.AppsV1()
	pods := l.options.Factory.Core().V1().Pods().Lister()
	configMaps := l.options.Factory.Core().V1().ConfigMaps().Lister()
	deployments := l.options.Factory.Apps().V1().Deployments().Lister()
	return []kind{
		{
			name: "pod",
			create: func(ctx context.Context, ns, name string) error {
				_, err := core.Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: meta(name), Spec: podSpec()}, metav1.CreateOptions{})
				return err
			},
			update: func(ctx context.Context, ns, name string) error {
				_, err := core.Pods(ns).Patch(ctx, name, types.MergePatchType, annotation(), metav1.PatchOptions{})
				return err
			},
			delete: func(ctx context.Context, ns, name string) error {
				return core.Pods(ns).Delete(ctx, name, metav1.DeleteOptions{})
			},
			cached: func(ns, name string) bool { _, err := pods.Pods(ns).Get(name); return err == nil },
			count: func(ns string) int {
				all, _ := pods.Pods(ns).List(labels.Everything()) // listing a cache cannot fail
				return len(all)
			},
		},
		{
			name: "configmap",
			create: func(ctx context.Context, ns, name string) error {
				object := &corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{"key": "value"}}
				_, err := core.ConfigMaps(ns).Create(ctx, object, metav1.CreateOptions{})
				return err
			},
			update: func(ctx context.Context, ns, name string) error {
				_, err := core.ConfigMaps(ns).Patch(ctx, name, types.MergePatchType, annotation(), metav1.PatchOptions{})
				return err
			},
			delete: func(ctx context.Context, ns, name string) error {
				return core.ConfigMaps(ns).Delete(ctx, name, metav1.DeleteOptions{})
			},
			cached: func(ns, name string) bool { _, err := configMaps.ConfigMaps(ns).Get(name); return err == nil },
			count: func(ns string) int {
				all, _ := configMaps.ConfigMaps(ns).List(labels.Everything()) // listing a cache cannot fail
				return len(all)
			},
		},
		{
			name: "deployment",
			create: func(ctx context.Context, ns, name string) error {
				_, err := apps.Deployments(ns).Create(ctx, deployment(name), metav1.CreateOptions{})
				return err
			},
			update: func(ctx context.Context, ns, name string) error {
				scale := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, 1+rand.IntN(3))
				_, err := apps.Deployments(ns).Patch(ctx, name, types.MergePatchType, scale, metav1.PatchOptions{})
				return err
			},
			delete: func(ctx context.Context, ns, name string) error {
				background := metav1.DeletePropagationBackground
				return apps.Deployments(ns).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
			},
			cached: func(ns, name string) bool { _, err := deployments.Deployments(ns).Get(name); return err == nil },
			count: func(ns string) int {
				all, _ := deployments.Deployments(ns).List(labels.Everything()) // listing a cache cannot fail
				return len(all)
			},
		},
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"app.kubernetes.io/managed-by": "load"}}
}

// annotation returns a patch that always changes the object.
func annotation() []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{"load/turn":"%d"}}}`, rand.Uint64())
}

// podSpec returns a minimal PodSpec. The Pods never run, because the control plane has no scheduler.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "none", Image: "example.com/none"}}}
}

func deployment(name string) *appsv1.Deployment {
	replicas := int32(1)
	selected := map[string]string{"app.kubernetes.io/name": name}
	return &appsv1.Deployment{
		ObjectMeta: meta(name),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selected},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selected}, Spec: podSpec()},
		},
	}
}
