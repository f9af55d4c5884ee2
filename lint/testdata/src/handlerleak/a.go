package handlerleak

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type reconciler struct {
	informer cache.SharedIndexInformer
	added    bool
}

func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if err := r.prepare(); err != nil {
		return reconcile.Result{}, err
	}
	r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}) // want `each run of Reconcile adds another handler`
	if !r.added {
		r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	}
	return reconcile.Result{}, nil
}

func (r *reconciler) prepare() error { return nil }

func (r *reconciler) start(ctx context.Context) {
	wait.UntilWithContext(ctx, r.watch, time.Second)
	r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
}

func (r *reconciler) watch(ctx context.Context) {
	r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}) // want `each run of watch adds another handler`
}

func (r *reconciler) loop(ctx context.Context, add func(any)) {
	for ctx.Err() == nil {
		r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add}) // want `each round of the loop adds the same handler`
	}
}

func register(informers []cache.SharedIndexInformer, handlers []cache.ResourceEventHandler) {
	for _, informer := range informers {
		informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	}
	for i, handler := range handlers {
		informers[0].AddEventHandler(handler)
		informers[0].AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { println(i) }})
	}
}

// rescan adds handlers to a list of the reconciler in each run; those of new informers are added once.
type rescan struct{ informers []cache.SharedIndexInformer }

func (r *rescan) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	for _, informer := range r.informers {
		informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}) // want `each run of Reconcile adds another handler`
	}
	for _, informer := range r.added() {
		informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	}
	return reconcile.Result{}, nil
}

func (r *rescan) added() []cache.SharedIndexInformer { return nil }
