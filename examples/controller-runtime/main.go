// The example is a controller built on controller-runtime, with observed informers, queue, reconciles, requests and leader
// election. It copies the annotation example.com/owner of each ConfigMap to a label.
//
// Everything that differs from other managers is in newManager.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

func main() {
	address := flag.String("metrics-bind-address", ":8080", "Address of /metrics.")
	flag.Parse() // including --kubeconfig of controller-runtime
	handler := slog.NewTextHandler(os.Stderr, nil)
	ctrl.SetLogger(logr.FromSlogHandler(handler))
	if err := run(ctrl.SetupSignalHandler(), *address); err != nil {
		slog.New(handler).Error(err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := newManager(config, metrics.Registry, ctrl.Options{
		Metrics:        server.Options{BindAddress: address},
		LeaderElection: true, LeaderElectionID: name, LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// name is the name of the program, its controller and its lock.
const name = "owner-labels"

// newManager returns a manager with the controller. The metrics are registered with reg. The manager serves them if that is
// controller-runtime's registry, which also has controller-runtime's own metrics.
func newManager(config *rest.Config, reg prometheus.Registerer, options ctrl.Options) (ctrl.Manager, error) {
	obs, err := collectors.New(reg, collectors.Options{Name: name})
	if err != nil {
		return nil, err
	}
	config = apiclient.WrapConfig(obs, config) // requests to the API server
	options.NewCache = func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		o.HTTPClient, o.NewInformer = informer.NewInformerFunc(obs, o.HTTPClient) // informers
		return cache.New(config, o)
	}
	if options.LeaderElection {
		lock, err := newLock(config, options)
		if err != nil {
			return nil, err
		}
		options.LeaderElectionResourceLockInterface = leader.NewLock(obs, lock, leader.Options{}) // leader election
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	r := &reconciler{mgr.GetClient()}
	observed := controllers.NewReconciler(obs, name, r.Reconcile, controllers.Options{ // reconciles
		IsTerminal: func(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) },
		MaxWorkers: workers,
	})
	limiter := workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]()
	err = ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             queue.NewTypedRateLimiter(obs, name, limiter), // retries and backoff; the queue is controller-runtime's own
		}).
		Complete(reconcile.Func(observed))
	if err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	return mgr, nil
}

const workers = 2

// newLock returns a lock like that of the manager, which cannot be decorated, except for its events and labels.
func newLock(config *rest.Config, options ctrl.Options) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock,
		options.LeaderElectionNamespace, options.LeaderElectionID, identity, config, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return lock, nil
}

// renewDeadline is controller-runtime's default.
const renewDeadline = 10 * time.Second

// owner is the key of the annotation and of the label.
const owner = "example.com/owner"

type reconciler struct {
	client client.Client
}

// Reconcile implements reconcile.Reconciler.
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
