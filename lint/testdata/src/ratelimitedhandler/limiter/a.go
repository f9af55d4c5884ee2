package limiter

import (
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// interval delays each item by the same time.
type interval struct{}

func (interval) When(string) time.Duration { return time.Minute }
func (interval) NumRequeues(string) int    { return 0 }
func (interval) Forget(string)             {}

func register(informer cache.SharedIndexInformer, queue workqueue.TypedRateLimitingInterface[string]) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { queue.AddRateLimited("a") },
	})
}
