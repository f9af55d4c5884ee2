package finalizerwrite

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// binder adds a finalizer in the last step of a reconcile, as adyanth/cloudflare-operator before its pull request 83.
type binder struct{ client.Client }

func (b binder) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	binding := &corev1.Pod{}
	if err := b.Get(ctx, client.ObjectKey{}, binding); err != nil {
		return reconcile.Result{}, err
	}
	if !controllerutil.ContainsFinalizer(binding, "f") {
		controllerutil.AddFinalizer(binding, "f") // want `AddFinalizer changes the object in memory only`
	}
	return reconcile.Result{}, nil
}

type binderFixed struct{ client.Client }

func (b binderFixed) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	binding := &corev1.Pod{}
	if err := b.Get(ctx, client.ObjectKey{}, binding); err != nil {
		return reconcile.Result{}, err
	}
	if !controllerutil.ContainsFinalizer(binding, "f") {
		controllerutil.AddFinalizer(binding, "f")
		if err := b.Update(ctx, binding); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, nil
}
