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
)

// warmUp is a controller that ends while its program continues: it reads every ConfigMap once. Its shutdown can be
// scraped, unlike that of a controller that ends with its process.
func warmUp(ctx context.Context, observer *collectors.Observer, configMaps corelisters.ConfigMapLister) error {
	queue := collectors.NewQueue(observer, "warm-up", workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	all, err := configMaps.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, m := range all {
		queue.Add(cache.MetaObjectToName(m))
	}
	var worker sync.WaitGroup
	var failed error
	worker.Go(func() {
		for {
			key, over := queue.Get()
			if over {
				return
			}
			if _, err := configMaps.ConfigMaps(key.Namespace).Get(key.Name); err != nil && !apierrors.IsNotFound(err) {
				failed = err
			}
			queue.Forget(key)
			queue.Done(key)
		}
	})
	return observer.ShutdownController(ctx, "warm-up", collectors.ShutdownSteps{
		StopIntake:   func(context.Context) error { queue.ShutDown(); return nil },
		DrainWorkers: func(context.Context) error { worker.Wait(); return failed },
		Queue:        queue,
	})
}
