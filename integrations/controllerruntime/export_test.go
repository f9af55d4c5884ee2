package controllerruntime

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
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
