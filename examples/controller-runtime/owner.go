package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// owner is the key of the annotation and of the label.
const owner = "example.com/owner"

// OwnerReconciler copies the annotation example.com/owner of each ConfigMap to a label.
type OwnerReconciler struct {
	client.Client
	Recorder recorder.EventRecorder
}

// Reconcile implements reconcile.Reconciler.
func (r *OwnerReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	want, ok := m.Annotations[owner]
	if !ok || m.Labels[owner] == want {
		return ctrl.Result{}, nil
	}
	changed := m.DeepCopy()
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	changed.Labels[owner] = want
	if err := r.Patch(ctx, changed, client.MergeFrom(&m)); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.Recorder.Eventf(changed, nil, corev1.EventTypeNormal, "Labeled", "Label", "The owner is %s", want)
	return ctrl.Result{}, nil
}

// SetupWithManager adds the controller to a manager.
func (r *OwnerReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("owner").Complete(r)
}
