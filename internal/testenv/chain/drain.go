package chain

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// blockDrain repeatedly tries to evict a protected Pod, as `kubectl drain` does. Each attempt is rejected with 429.
func blockDrain(ctx context.Context, c *Chain) (end, error) {
	const name = "blocks-drain"
	var (
		selector = map[string]string{"app": name}
		pods     = c.writer.CoreV1().Pods("default")
		budgets  = c.writer.PolicyV1().PodDisruptionBudgets("default")
		stop     = func() {}
	)
	restore := func(ctx context.Context) error {
		stop()
		return errors.Join(
			unlessNotFound(pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})),
			unlessNotFound(budgets.Delete(ctx, name, metav1.DeleteOptions{})),
		)
	}
	if _, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: selector},
		},
	}, metav1.CreateOptions{}); err != nil {
		return restore, err
	}
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: selector},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "none", Image: "none"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return restore, err
	}
	pod.Status.Phase = corev1.PodRunning // a PodDisruptionBudget does not protect a Pending Pod
	if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return restore, err
	}
	stop = background(ctx, 200*time.Millisecond, func(ctx context.Context) {
		err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if !apierrors.IsTooManyRequests(err) && ctx.Err() == nil {
			c.options.Log.Warn("eviction was not rejected", "err", err)
		}
	})
	return restore, nil
}
