package churn

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// The Deployment with the Pods that deploys replace and drains evict.
const (
	deployment = "web"
	pods       = 6
)

// prepare creates the objects that the operations need: nodes, a Deployment and its PodDisruptionBudget.
func (c *Churn) prepare(ctx context.Context) error {
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, name := range nodeNames {
		if err := c.createNode(ctx, name); err != nil {
			return err
		}
	}
	selected := map[string]string{"app.kubernetes.io/name": deployment}
	selector := &metav1.LabelSelector{MatchLabels: selected}
	if _, err := c.client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: deployment},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector, MinAvailable: ptr.To(intstr.FromInt32(pods - 2))},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: deployment},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](pods), Selector: selector,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selected},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "none", Image: "example.com/none:0"}}},
			},
		},
	}, metav1.CreateOptions{})
	return err
}

// deploy changes the image of the Deployment, which replaces all Pods.
func (c *Churn) deploy(ctx context.Context) error {
	image := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"containers":[{"name":"none","image":"example.com/none:%d"}]}}}}`, time.Now().Unix())
	_, err := c.client.AppsV1().Deployments(namespace).Patch(ctx, deployment, types.StrategicMergePatchType, image, metav1.PatchOptions{})
	return err
}
