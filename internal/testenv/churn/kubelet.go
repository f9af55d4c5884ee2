package churn

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// lookAgain is how often Pods advance to their next state, and therefore about how long each takes to start or to terminate.
	lookAgain = 2 * time.Second
	// heartbeats is the interval of a kubelet's heartbeats.
	heartbeats = 10 * time.Second
)

// kubelet schedules, starts and ends Pods, and renews the Leases of nodes, until ctx ends.
func (c *Churn) kubelet(ctx context.Context) {
	next := time.Now()
	for {
		if err := c.bringForward(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("Pods not updated", "err", err)
		}
		if now := time.Now(); !now.Before(next) {
			next = now.Add(heartbeats)
			for _, name := range nodeNames {
				if c.Gone(name) {
					continue
				}
				if err := c.heartbeat(ctx, name); err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
					c.log.Warn("heartbeat failed", "node", name, "err", err)
				}
			}
		}
		if !sleep(ctx, lookAgain) {
			return
		}
	}
}

// podsByNode returns the Pods by node. Pods without a node are under the empty name.
func (c *Churn) podsByNode(ctx context.Context) (map[string][]corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	byNode := map[string][]corev1.Pod{}
	for _, p := range list.Items {
		byNode[p.Spec.NodeName] = append(byNode[p.Spec.NodeName], p)
	}
	return byNode, nil
}

// bringForward advances each Pod to its next state.
func (c *Churn) bringForward(ctx context.Context) error {
	byNode, err := c.podsByNode(ctx)
	if err != nil {
		return err
	}
	api := c.client.CoreV1().Pods(namespace)
	for _, node := range nodeNames {
		for _, p := range byNode[node] {
			switch {
			case p.DeletionTimestamp != nil:
				err = api.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
			case p.Status.Phase == corev1.PodPending:
				now := metav1.Now()
				p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &now
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
				_, err = api.UpdateStatus(ctx, &p, metav1.UpdateOptions{})
			}
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, p := range byNode[""] {
		best := ""
		for _, n := range nodes.Items {
			if !n.Spec.Unschedulable && (best == "" || len(byNode[n.Name]) < len(byNode[best])) {
				best = n.Name
			}
		}
		if best == "" || p.DeletionTimestamp != nil {
			continue
		}
		byNode[best] = append(byNode[best], p)
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: best}}
		if err := api.Bind(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}
