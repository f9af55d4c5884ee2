// Package controllerruntime observes a whole operator that is built on controller-runtime. NewManager replaces
// ctrl.NewManager; nothing else in the operator changes:
//
//	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{ /* as before */ },
//		controllerruntime.Options{Name: "my-operator"})
//
// The manager's /metrics then also has the metrics of requests, informers, leader election, and of each controller's
// reconciles, queue and rate limiter. The decorated manager behaves like the plain one: it makes the same requests, retries
// at the same times, records the same Events and stops in the same order.
//
//	what is observed                  where it is decorated
//	requests to the API server        rest.Config, also as mgr.GetConfig() returns it
//	informers of the cache            cache.Options.NewInformer, for all representations and namespaces
//	event handlers of a controller    cache.Cache.GetInformer; the label handler is the name of the controller
//	leader election                   LeaderElectionResourceLockInterface
//	reconciles, workers, queue,       the fields of a controller that is added to the manager
//	rate limiter
//
// The manager may have controllers with requests other than reconcile.Request: name each such type in Options.Requests. The
// manager logs one message, with what to do, for a controller that cannot be decorated, for a controller that is not added to it,
// and for caches and queues that it cannot observe. They work as they would without the package.
//
// Each additional cluster needs a separate Observer, see NewCluster. With multicluster-runtime, pass the decorated manager
// as the local manager.
package controllerruntime
