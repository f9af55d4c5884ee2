package churn

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var nodeNames = []string{"node-0", "node-1", "node-2"}

const (
	// reboot is how long a drained node takes to reboot.
	reboot = time.Minute
	// evictAgain is kubectl's pause after a PodDisruptionBudget has rejected an eviction.
	evictAgain = 5 * time.Second
)

func (c *Churn) createNode(ctx context.Context, name string) error {
	if _, err := c.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	return c.ready(ctx, name)
}

// ready sets the condition Ready of a node. It sends a patch, because kube-controller-manager writes nodes at the same time.
func (c *Churn) ready(ctx context.Context, name string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	status := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q,"lastTransitionTime":%q}]}}`, now, now)
	_, err := c.client.CoreV1().Nodes().PatchStatus(ctx, name, status)
	return err
}

// heartbeat renews the Lease of a node, as its kubelet does, and makes the node ready again.
func (c *Churn) heartbeat(ctx context.Context, name string) error {
	leases, now := c.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), metav1.NowMicro()
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: ptr.To[int32](40), RenewTime: &now},
		}, metav1.CreateOptions{})
	case err == nil:
		lease.Spec.RenewTime = &now
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return c.ready(ctx, name)
		}
	}
	return nil
}

// drain cordons the node with the most Pods, evicts its Pods as kubectl does, reboots it and uncordons it.
func (c *Churn) drain(ctx context.Context) error {
	byNode, err := c.podsByNode(ctx)
	if err != nil {
		return err
	}
	name := nodeNames[0]
	for _, n := range nodeNames {
		if len(byNode[n]) > len(byNode[name]) {
			name = n
		}
	}
	if err := c.cordon(ctx, name, true); err != nil {
		return err
	}
	for _, pod := range byNode[name] {
		for {
			err := c.client.PolicyV1().Evictions(namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: namespace}})
			if err == nil || apierrors.IsNotFound(err) {
				break
			}
			if !apierrors.IsTooManyRequests(err) {
				return errors.Join(fmt.Errorf("evict %s: %w", pod.Name, err), c.cordon(ctx, name, false))
			}
			if !sleep(ctx, evictAgain) {
				return nil
			}
		}
	}
	c.setGone(name, true) // no heartbeats
	waited := sleep(ctx, reboot)
	c.setGone(name, false)
	if !waited {
		return nil
	}
	return c.cordon(ctx, name, false)
}

func (c *Churn) cordon(ctx context.Context, name string, unschedulable bool) error {
	change := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, unschedulable)
	_, err := c.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, change, metav1.PatchOptions{})
	return err
}
