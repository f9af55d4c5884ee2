package controllerruntime

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Fields are the fields of a controller that are decorated.
type Fields[R comparable] struct {
	Name       string
	Workers    int
	Reconciler reconcile.TypedReconciler[R]
	Limiter    workqueue.TypedRateLimiter[R]
	NewQueue   func(string, workqueue.TypedRateLimiter[R]) workqueue.TypedRateLimitingInterface[R]
}

// FieldsOf returns the fields of a controller.
func FieldsOf[R comparable](r manager.Runnable) (Fields[R], bool) {
	f, ok := fieldsOf[R](r)
	if !ok {
		return Fields[R]{}, false
	}
	return Fields[R]{*f.name, *f.workers, *f.reconciler, *f.limiter, *f.newQueue}, true
}

// ForObserver returns the options of the new Observer of a manager with a logger.
func ForObserver(o Options, logger logr.Logger) collectors.Options { return o.forObserver(logger) }

// DecorateLock sets the lock in the options of a manager.
func DecorateLock(obs *collectors.Observer, config *rest.Config, options *ctrl.Options) {
	decorateLock(obs, config, options)
}

// InContext returns a controller that runs in a context with its name.
func InContext(r manager.Runnable) manager.Runnable { return inContext(r, "test") }
