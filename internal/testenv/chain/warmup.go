package chain

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// warmUp runs a controller that stops while its program continues: it reads every ConfigMap once. The metrics of its shutdown
// can be scraped, unlike those of a controller that stops with its process.
func warmUp(ctx context.Context, observer *collectors.Observer, configMaps corelisters.ConfigMapLister) error {
	const controller = "warm-up"
	q := queue.NewTypedRateLimitingQueue(observer, controller, workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](), queue.Options[cache.ObjectName]{})
	all, err := configMaps.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, m := range all {
		q.Add(cache.MetaObjectToName(m))
	}
	var worker sync.WaitGroup
	var failed error
	worker.Go(func() {
		for {
			key, shutdown := q.Get()
			if shutdown {
				return
			}
			if _, err := configMaps.ConfigMaps(key.Namespace).Get(key.Name); err != nil && !apierrors.IsNotFound(err) {
				failed = err
			}
			q.Forget(key)
			q.Done(key)
		}
	})
	stopIntake := controllers.NewShutdownStep(observer, controller, controllers.StopIntake, func(context.Context) error {
		q.ShutDown()
		return nil
	})
	drainWorkers := controllers.NewShutdownStep(observer, controller, controllers.DrainWorkers, func(context.Context) error {
		worker.Wait()
		return failed
	})
	if err := stopIntake(ctx); err != nil {
		return err
	}
	return drainWorkers(ctx)
}
