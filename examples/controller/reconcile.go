package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
)

// result is the result of a reconcile, with the same field as reconcile.Result of controller-runtime.
type result struct{ RequeueAfter time.Duration }

// reconciler gives each Widget a ConfigMap with its content, and deletes the ConfigMap with the Widget.
type reconciler struct {
	obs        *collectors.Observer
	client     kubernetes.Interface
	dynamic    dynamic.Interface
	widgets    cache.GenericLister
	configMaps corelisters.ConfigMapLister
	writes     *controllers.Writes[string]
	// cleanup and rollback are the decorated methods deleteConfigMap and restoreConfigMap.
	cleanup, rollback func(context.Context, *Widget) error
	cleanupTimeout    time.Duration
	// retries returns the number of retries of a Widget so far.
	retries func(key string) int
}

// reconcile reconciles the Widget with the given key.
func (r *reconciler) reconcile(ctx context.Context, key string) (result, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return result{}, terminal(err)
	}
	cached, err := r.widgets.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		r.writes.Forget(key)
		controllers.ForgetCleanup(r.obs, program, finalizer, types.NamespacedName{Namespace: namespace, Name: name}) // the finalizer may have been removed by hand
		return result{}, nil
	}
	if err != nil {
		return result{}, err
	}
	w, err := widgetOf(cached)
	if err != nil {
		return result{}, terminal(err)
	}
	if r.writes.Stale(key, w) { // its next event is on the way; waiting is cheaper than a conflict
		return result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	if w.DeletionTimestamp != nil {
		return result{}, r.finalize(ctx, key, w)
	}
	if err := misbehave(w, r.retries(key)); err != nil {
		return result{}, err
	}
	if !slices.Contains(w.Finalizers, finalizer) {
		w.Finalizers = append(w.Finalizers, finalizer)
		if w, err = r.update(ctx, key, w); err != nil {
			return result{}, err
		}
	}
	if err := r.applyConfigMap(ctx, w); err != nil {
		return result{}, err
	}
	if w.Status.Phase == "Ready" && w.Status.ObservedGeneration == w.Generation && !w.Spec.Loop {
		return result{}, nil
	}
	w.Status = WidgetStatus{ObservedGeneration: w.Generation, Phase: "Ready"}
	if w.Spec.Loop {
		w.Status.Reconciled = time.Now().Format(time.RFC3339Nano)
	}
	_, err = r.update(ctx, key, w, "status")
	return result{}, err
}

// misbehave fails if the Widget's spec requests it.
func misbehave(w *Widget, retries int) error {
	switch {
	case w.Spec.Fail == "terminal":
		return terminal(errors.New("spec.fail is terminal"))
	case w.Spec.Fail == "panic":
		panic("spec.fail is panic")
	case w.Spec.Fail != "":
		return fmt.Errorf("spec.fail is %s", w.Spec.Fail)
	case retries < w.Spec.Failures:
		return fmt.Errorf("spec.failures is %d, and this is retry %d", w.Spec.Failures, retries)
	}
	return nil
}

// update writes a Widget or one of its subresources.
func (r *reconciler) update(ctx context.Context, key string, w *Widget, subresource ...string) (*Widget, error) {
	u, err := w.unstructured()
	if err != nil {
		return nil, err
	}
	written, err := r.dynamic.Resource(widgets).Namespace(w.Namespace).Update(ctx, u, metav1.UpdateOptions{}, subresource...)
	if err != nil {
		return nil, err
	}
	r.writes.Wrote(key, written)
	return widgetOf(written)
}

// applyConfigMap creates or updates the ConfigMap, unless the cache has it with the right content.
func (r *reconciler) applyConfigMap(ctx context.Context, w *Widget) error {
	client := r.client.CoreV1().ConfigMaps(w.Namespace)
	cached, err := r.configMaps.ConfigMaps(w.Namespace).Get(configMapName(w))
	switch {
	case apierrors.IsNotFound(err):
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMapName(w), Labels: managed}}
		m.Data = map[string]string{"content": w.Spec.Content}
		_, err = client.Create(ctx, m, metav1.CreateOptions{})
	case err == nil && cached.Data["content"] != w.Spec.Content:
		m := cached.DeepCopy()
		m.Data = map[string]string{"content": w.Spec.Content}
		_, err = client.Update(ctx, m, metav1.UpdateOptions{})
	}
	return err
}

// managed are the labels of the controller's ConfigMaps. The cache holds no others.
var managed = map[string]string{"app.kubernetes.io/managed-by": "widgets"}

func configMapName(w *Widget) string { return "widget-" + w.Name }
