// Package collectors reports Prometheus metrics about the parts of a Kubernetes controller that are built on client-go. An
// Observer holds the metrics of a program. The packages below have decorators, which take the Observer and the parameters of
// client-go's own constructors. A decorator never changes behavior: it does not decide, retry, recover or reorder. The one
// exception is handler isolation (informer.Isolate), which is opt-in.
//
//	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller"})
//	factory := informer.NewSharedInformerFactory(obs, client, resync, informer.Options{})
//
// What each package decorates, and the hook in client-go where it measures:
//
//	informers and their factories,   informer      cache.ListerWatcher and its watches,
//	listers, event handlers                        cache.Indexer, cache.ResourceEventHandler
//	work queues, rate limiters       queue         workqueue.TypedInterface, Queue, TypedRateLimiter
//	reconcilers, sync handlers,      controllers   the controller's own functions
//	finalizers, shutdown steps
//	leader election                  leader        resourcelock.Interface
//	clients of the API server        apiclient     rest.Config: Wrap, RateLimiter
//	leases, terminating objects,     objects       handlers of informers that watch a whole cluster
//	generations of a cluster
//	traces                           spans         nothing: the interface to a tracing system
//
// Package integrations/clientgo has the functions that a client-go controller needs, with default options. Names, help texts,
// labels and buckets of all metrics are in package catalog.
//
// # Cost
//
// The budgets of decorators are 1.25 times the time of a read by key from an indexer and 1.10 times that through a lister, 150 ns per
// event, 200 ns per reconcile, and 1.10 times the time of a queue item with client-go's metrics. None of this may allocate. A decorated
// informer may take 30 KiB more memory, regardless of its number of objects. docs/benchmarks.md has the measured figures.
//
// A scrape reads atomics and holds no lock while it renders metrics. It locks each queue, lock and finalizer briefly, and
// reads the version of each store as any consumer does, so a slow index function delays it by up to two seconds. It lists the
// keys of a store only if the number of objects cannot be derived from events: the connection is not decorated, a transform
// drops or renames objects, or the watch began at an arbitrary version. docs/benchmarks.md has more figures; `make bench`
// measures them.
package collectors
