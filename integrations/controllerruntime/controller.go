package controllerruntime

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// RequestType is a type of requests for which controllers are decorated.
type RequestType struct {
	// decorate decorates a controller of such requests and returns its name. It returns false for anything else.
	decorate func(*collectors.Observer, logr.Logger, manager.Runnable) (name string, ok bool)
}

// RequestOf returns the type of the requests of controllers that are built with builder.TypedControllerManagedBy[R] or
// controller.NewTyped[R].
func RequestOf[R comparable]() RequestType { return RequestType{decorate[R]} }

// decorate replaces what a controller will use once it starts. It decorates the existing values, so that options, limiter
// and queue are those that the controller would have had.
func decorate[R comparable](obs *collectors.Observer, logger logr.Logger, r manager.Runnable) (name string, ok bool) {
	f, ok := fieldsOf[R](r)
	if !ok {
		return "", false
	}
	name = *f.name
	if _, decorated := (*f.reconciler).(reconciler[R]); decorated {
		return name, true // added before: the manager reports that when it starts the controller again
	}
	*f.reconciler = reconciler[R]{controllers.NewReconciler(obs, name, (*f.reconciler).Reconcile, controllers.Options{
		IsTerminal: isTerminal,
		MaxWorkers: *f.workers,
	})}
	*f.newQueue = decorateQueue(obs, logger, name, *f.newQueue)
	*f.limiter = queue.NewTypedRateLimiter(obs, name, *f.limiter)
	return name, true
}

// reconciler is a decorated reconciler.
type reconciler[R comparable] struct {
	reconcile func(context.Context, R) (reconcile.Result, error)
}

// Reconcile implements reconcile.TypedReconciler.
func (r reconciler[R]) Reconcile(ctx context.Context, request R) (reconcile.Result, error) {
	return r.reconcile(ctx, request)
}

func isTerminal(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) }
