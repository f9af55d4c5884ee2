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
		return err
	}
	w.Finalizers = slices.Delete(w.Finalizers, at, at+1)
	_, err := r.update(ctx, key, w)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
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
