package finalizerwrite

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func lost(ctx context.Context, c client.Client) error {
	var pod corev1.Pod
	if err := c.Get(ctx, client.ObjectKey{}, &pod); err != nil {
		return err
	}
	if controllerutil.ContainsFinalizer(&pod, "f") {
		controllerutil.RemoveFinalizer(&pod, "f") // want `RemoveFinalizer changes the object in memory only`
	}
	return nil
}

func copied(pod *corev1.Pod) {
	pod = pod.DeepCopy()
	controllerutil.AddFinalizer(pod, "f") // want `AddFinalizer changes the object in memory only`
}

func updated(ctx context.Context, c client.Client) error {
	var pod corev1.Pod
	if err := c.Get(ctx, client.ObjectKey{}, &pod); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(&pod, "f")
	return c.Update(ctx, &pod)
}

func deferred(ctx context.Context, c client.Client) {
	var pod corev1.Pod
	defer c.Update(ctx, &pod)
	controllerutil.RemoveFinalizer(&pod, "f")
}

func byCaller(pod *corev1.Pod) { controllerutil.RemoveFinalizer(pod, "f") }

func kept() {
	var pod corev1.Pod
	keep(&pod)
	controllerutil.RemoveFinalizer(&pod, "f")
}

func keep(pod *corev1.Pod) {}
