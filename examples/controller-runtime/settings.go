package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// settings is the key of the annotation.
const settings = "example.com/settings"

// SettingsReconciler keeps a ConfigMap for each service account with the annotation example.com/settings.
type SettingsReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile implements reconcile.Reconciler.
func (r *SettingsReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var account corev1.ServiceAccount
	if err := r.Get(ctx, req.NamespacedName, &account); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	want, ok := account.Annotations[settings]
	if !ok {
		return ctrl.Result{}, nil
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name + "-settings"}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, m, func() error {
		m.Data = map[string]string{"settings": want}
		return controllerutil.SetControllerReference(&account, m, r.Scheme)
	})
	return ctrl.Result{}, err
}

// SetupWithManager adds the controller to a manager.
func (r *SettingsReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ServiceAccount{}).Owns(&corev1.ConfigMap{}).Named("settings").Complete(r)
}
