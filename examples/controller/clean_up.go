package main

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalize cleans up after a Widget that is being deleted, and lets it go.
func (r *reconciler) finalize(ctx context.Context, key string, w *Widget) error {
	at := slices.Index(w.Finalizers, finalizer)
	if at < 0 {
		return nil // others still hold it
	}
	if err := r.cleanUp(ctx, w); err != nil {
		return errors.Join(err, r.rollBack(ctx, w))
	}
	w.Finalizers = slices.Delete(w.Finalizers, at, at+1)
	_, err := r.update(ctx, key, w)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// rollBackWidget undoes what a clean-up that has failed had begun: as long as the ConfigMap is there, it has its content.
func (r *reconciler) rollBackWidget(ctx context.Context, w *Widget) error {
	if _, err := r.configMaps.ConfigMaps(w.Namespace).Get(configMapName(w)); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return r.applyConfigMap(ctx, w)
}

// cleanUpWidget can be called again after it has succeeded: the finalizer may still be there then.
func (r *reconciler) cleanUpWidget(ctx context.Context, w *Widget) error {
	switch w.Spec.CleanUp {
	case "fail":
		return errors.New("the widget wants its clean-up to fail")
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
