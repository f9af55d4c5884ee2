package statusupdate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func lost(ctx context.Context, pods typed.PodInterface, pod *corev1.Pod) {
	pod = pod.DeepCopy()
	pod.Status.Phase = "Failed"
	pods.Update(ctx, pod, metav1.UpdateOptions{}) // want `Update ignores the change of the status`
}

func runtimeClient(ctx context.Context, c client.Client) error {
	var pod corev1.Pod
	if err := c.Get(ctx, client.ObjectKey{}, &pod); err != nil {
		return err
	}
	pod.Status.Phase = "Failed"
	return c.Update(ctx, &pod) // want `Update ignores the change of the status`
}

func written(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	pod.Status.Phase = "Failed"
	return c.Status().Update(ctx, pod)
}

func both(ctx context.Context, pods typed.PodInterface, pod *corev1.Pod) {
	pod.Status.Phase = "Failed"
	pods.Update(ctx, pod, metav1.UpdateOptions{})
	pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
}

func other(ctx context.Context, pods typed.PodInterface, pod, second *corev1.Pod) {
	second.Status.Phase = "Failed"
	pod.Spec.NodeName = "a"
	pods.Update(ctx, pod, metav1.UpdateOptions{})
}

type custom struct {
	metav1.ObjectMeta
	Status corev1.PodStatus
}

// A custom resource may have no status subresource.
func noSubresource(ctx context.Context, c client.Client, obj *custom) error {
	obj.Status.Phase = "Failed"
	return c.Update(ctx, obj)
}
