package statusupdate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// kubevirt3950 sets a finalizer and a field of the status in one update, as in the review of kubevirt/kubevirt#3950.
func kubevirt3950(ctx context.Context, pods typed.PodInterface, vm *corev1.Pod) error {
	vmCopy := vm.DeepCopy()
	vmCopy.Status.Phase = "snapshot"
	vmCopy.Finalizers = append(vmCopy.Finalizers, "source")
	_, err := pods.Update(ctx, vmCopy, metav1.UpdateOptions{}) // want `Update ignores the change of the status`
	return err
}

func kubevirt3950Fixed(ctx context.Context, pods typed.PodInterface, vm *corev1.Pod) error {
	vmCopy := vm.DeepCopy()
	vmCopy.Status.Phase = "snapshot"
	vmCopy, err := pods.UpdateStatus(ctx, vmCopy, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	vmCopy.Finalizers = append(vmCopy.Finalizers, "source")
	_, err = pods.Update(ctx, vmCopy, metav1.UpdateOptions{})
	return err
}
