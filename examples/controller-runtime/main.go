// The example is a controller built with controller-runtime whose informers are observed. It labels each ConfigMap that
// has the annotation example.com/owner with that owner.
//
// What makes the difference to any other manager is in newManager.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/collectors"
)

func main() {
	handler := slog.NewTextHandler(os.Stderr, nil)
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		slog.New(handler).Error(err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := newManager(config, metrics.Registry, ctrl.Options{})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newManager returns a manager with the controller in it. The metrics are registered with reg: give it controller-runtime's
// own registry, and the manager serves them.
func newManager(config *rest.Config, reg prometheus.Registerer, options ctrl.Options) (ctrl.Manager, error) {
	obs, err := collectors.New(reg, collectors.Options{Name: "owner-labels"})
	if err != nil {
		return nil, err
	}
	options.NewCache = func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		o.HTTPClient, o.NewInformer = obs.NewInformerFunc(o.HTTPClient)
		return cache.New(config, o)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	r := &reconciler{mgr.GetClient()}
	if err := ctrl.NewControllerManagedBy(mgr).Named("owner-labels").For(&corev1.ConfigMap{}).Complete(r); err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	return mgr, nil
}

// owner is the key of the annotation and of the label.
const owner = "example.com/owner"

type reconciler struct {
	client client.Client
}

// Reconcile implements reconcile.Reconciler. It reads from the cache.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := r.client.Get(ctx, req.NamespacedName, &m); err != nil {
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
	return ctrl.Result{}, client.IgnoreNotFound(r.client.Patch(ctx, changed, client.MergeFrom(&m)))
}
