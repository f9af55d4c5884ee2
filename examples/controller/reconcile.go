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
)

// result tells when an item is wanted again; collectors.Reconciler reads the field by its name.
type result struct{ RequeueAfter time.Duration }

// reconciler gives each Widget a ConfigMap with its content, and takes that away again before the Widget goes.
type reconciler struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	// widgets and configMaps are the caches.
	widgets    cache.GenericLister
	configMaps corelisters.ConfigMapLister
	// writes knows what this controller wrote last, which the cache may not have seen yet.
	writes *collectors.Writes[string]
	// cleanUp is cleanUpWidget and rollBack is rollBackWidget, decorated; forgetCleanUp is for what is gone without it.
	cleanUp, rollBack func(context.Context, *Widget) error
	forgetCleanUp     func(types.NamespacedName)
	// failed is how often an item has failed in a row.
	failed func(key string) int
}

// reconcile brings one Widget closer to what its spec says. It is called with the keys of the queue.
func (r *reconciler) reconcile(ctx context.Context, key string) (result, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return result{}, collectors.TerminalError(err)
	}
	cached, err := r.widgets.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		r.writes.Forget(key)
		r.forgetCleanUp(types.NamespacedName{Namespace: namespace, Name: name}) // somebody else may have removed the finalizer
		return result{}, nil
	}
	if err != nil {
		return result{}, err
	}
	w, err := widgetOf(cached)
	if err != nil {
		return result{}, collectors.TerminalError(err)
	}
	if r.writes.Read(key, w) { // an event with the newer state is on its way, and waiting costs less than a conflict
		return result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	if w.DeletionTimestamp != nil {
		return result{}, r.finalize(ctx, key, w)
	}
	if err := misbehave(w, r.failed(key)); err != nil {
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
	if w.Status.Phase == "Ready" && w.Status.ObservedGeneration == w.Generation {
		return result{}, nil
	}
	w.Status = WidgetStatus{ObservedGeneration: w.Generation, Phase: "Ready"}
	_, err = r.update(ctx, key, w, "status")
	return result{}, err
}

// misbehave fails as the Widget asks for.
func misbehave(w *Widget, failed int) error {
	switch {
	case w.Spec.Fail == "terminal":
		return collectors.TerminalError(errors.New("the widget wants no attempt to succeed, and none to follow"))
	case w.Spec.Fail == "panic":
		panic("the widget wants a panic")
	case w.Spec.Fail != "", failed < w.Spec.Failures:
		return fmt.Errorf("the widget wants this attempt to fail, after %d others", failed)
	}
	return nil
}

// update writes a Widget, or a subresource of it, and remembers that it did.
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

// applyConfigMap makes the ConfigMap what it should be, if the cache says that it is not.
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

// managed are the labels of the ConfigMaps; the others need not be in the cache.
var managed = map[string]string{"app.kubernetes.io/managed-by": "widgets"}

func configMapName(w *Widget) string { return "widget-" + w.Name }
