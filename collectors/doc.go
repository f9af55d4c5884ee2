// Package collectors observes a Kubernetes controller that is built on client-go: it reports Prometheus metrics of informers, work
// queues, reconciles, leader election and requests to the API server. An Observer holds the metrics of a program. The packages
// below have decorators, which take the Observer and the parameters of client-go's own constructors.
//
//	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller"})
//	factory := informer.NewSharedInformerFactory(obs, client, resync, informer.FactoryOptions{})
//
// Decorators never change behavior: they do not decide, retry, recover or reorder. The one exception, informer.Isolate, is opt-in.
//
//	informer      informers and their factories, listers, event handlers
//	queue         work queues, rate limiters
//	controllers   reconcilers, sync handlers, finalizers, shutdown steps
//	leader        locks of leader election
//	apiclient     clients of the API server
//	objects       Leases, terminating objects and generations of a whole cluster
//	inspect       items that keep failing and single objects, as JSON
//	spans         the interface to a tracing system
//
// Packages integrations/clientgo and integrations/controllerruntime need fewer lines of code. Package catalog has the names, help
// texts, labels and buckets of all metrics.
//
// # Cost
//
// Decorators have budgets (docs/benchmarks.md). A read by key may take 1.05 times as long from an indexer as one that is only
// counted, which takes a quarter longer than a plain one, and 1.10 times through a lister; a queue item 1.10 times as long as with
// client-go's metrics. An event may take 60 ns more than with a goroutine that passes it on and measures it, and a reconcile 200 ns.
// None of this may allocate. An informer may take 30 KiB more memory, regardless of its number of objects.
//
// A scrape computes gauges from atomics and does not block informers. It reads the version of each store as any consumer does, so
// a slow index function delays it by up to two seconds. It lists the keys of a store only if events do not determine the number of
// objects: without a decorated connection, or if a transform drops or renames objects.
package collectors
