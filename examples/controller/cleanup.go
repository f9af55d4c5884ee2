package main

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalize cleans up after a Widget that is being deleted, and removes the finalizer.
func (r *reconciler) finalize(ctx context.Context, key string, w *Widget) error {
	at := slices.Index(w.Finalizers, finalizer)
	if at < 0 {
		return nil // blocked by other finalizers
	}
	if err := r.tryCleanup(ctx, w); err != nil {
		return errors.Join(err, r.rollback(ctx, w))
	}
	w.Finalizers = slices.Delete(w.Finalizers, at, at+1)
	_, err := r.update(ctx, key, w)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// tryCleanup limits the time of an attempt, so that a cleanup that hangs does not block a worker forever.
func (r *reconciler) tryCleanup(ctx context.Context, w *Widget) error {
	ctx, cancel := context.WithTimeout(ctx, r.cleanupTimeout)
	defer cancel()
	return r.cleanup(ctx, w)
}

// deleteConfigMap is the cleanup. It may run again after a success, if removing the finalizer failed.
func (r *reconciler) deleteConfigMap(ctx context.Context, w *Widget) error {
	switch w.Spec.Cleanup {
	case "fail":
		return errors.New("spec.cleanup is fail")
	case "hang":
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := r.client.CoreV1().ConfigMaps(w.Namespace).Delete(ctx, configMapName(w), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// restoreConfigMap is the rollback of a failed cleanup: it restores the content of an existing ConfigMap.
func (r *reconciler) restoreConfigMap(ctx context.Context, w *Widget) error {
	if _, err := r.configMaps.ConfigMaps(w.Namespace).Get(configMapName(w)); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return r.applyConfigMap(ctx, w)
}
