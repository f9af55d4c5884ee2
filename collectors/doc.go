// Package collectors makes the informers of client-go observable, and what controllers are made of besides: queues,
// reconciles, clients, leader election, finalizers. It decorates them and reports what it sees to Prometheus. A decorator
// only observes; with all of them removed a program does the same.
//
//	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller"})
//	factory := obs.SharedInformerFactory(client, resync, collectors.FactoryOptions{})
//	pods := factory.Core().V1().Pods().Lister() // from here on as ever
//
// # Where things are
//
// Each signal has a hook in client-go that it is taken from, and a file:
//
//	what is seen                      hook                                              file
//	lists, relists, their errors      ListerWatcher: List, and Watch with               listwatch.go, source.go
//	                                  SendInitialEvents until the bookmark that ends
//	                                  the initial events
//	watches, their ends, coverage     ListerWatcher: Watch; the stream it returns       watch.go, watch_undo.go,
//	                                                                                    source.go
//	events by type, last event        the stream                                        watch.go
//	initial sync, end of the informer SharedIndexInformer: RunWithContext and           shared_informer.go
//	                                  HasSyncedChecker
//	dropped objects, replaced         SetTransform, composed with the caller's          transform.go
//	Transform functions
//	propagation                       the stream, before any Transform                  propagation.go
//	versions, regressions             the stream and the ends of lists                  source.go, status.go
//	unchanged updates                 the handler                                       handler.go
//	resyncs and their periods         the informer, the handler                         resync.go
//	orphans, duplicates               RunWithContext; the group of the informer         status.go, collect.go
//	hits, misses, reads of lists      GetIndexer and GetStore, which listers read       indexer.go
//	handler duration, panics          AddEventHandler: the handler                      handler.go
//	event lag, pending events         the stream and the handler, paired by             internal/ring, handler.go
//	                                  resourceVersion
//	freshness                         ListerWatcher: a second, short Watch; the store's  checks.go, freshness.go, audit
//	                                  version
//	differences from the API server,  ListerWatcher: List at the store's version, the      checks.go, audits.go,
//	indexes, key collisions           store, GetIndexers                                 pause.go, audit
//	objects changed in place          the store, sampled                                checks.go, mutations.go, audit
//	labels with too many values       nothing: their caps                               limits.go, internal/series
//	client-go's own three metrics     InformerMetricsProvider, for one informer         upstream.go
//	requests to the API server,       rest.Config: Wrap, for each attempt               transport.go, requests.go,
//	their conflicts                                                                     internal/apipath
//	waits for a client's rate limiter rest.Config: RateLimiter                          throttle.go
//	leadership, renewals of the lock  resourcelock.Interface: Get, Create, Update, and  leader.go
//	                                  RecordEvent, through which the elector tells the
//	                                  lock that it has stopped
//	leader_election_*                 leaderelection.SetProvider, if the program calls  upstream_leader.go
//	                                  it
//	reconciles, active workers        the reconcile function                            reconciler.go
//	stale reads                       what the API server returns from writes, and the  stale_reads.go
//	                                  version of the store
//	clean-ups, rollbacks, overdue     the functions that do them                        finalizer.go
//	end of a controller               the functions that end its parts                  shutdown.go
//	coalesced adds                    the innermost queue: Add, and what it calls of    queue_ready.go, queue_order.go
//	oldest item                       workqueue.Queue, its order: Push and Pop          queue_ages.go, queue_clock.go
//	items that wait for their time    the delaying queue: AddAfter, and Add of the      queue_delayed.go
//	                                  queue inside
//	back-off, retries of items        TypedRateLimiter: When and Forget                 rate_limiter.go
//	items given up                    Queue.Retry                                       retry.go
//	client-go's own seven of queues   workqueue.MetricsProvider, for one queue          upstream_queue.go
//	sync lag, objects, other gauges   nothing: worked out when scraped                  status.go
//	Leases, deletions, generations    handlers of informers that watch a whole cluster  objects
//
// What is decorated, and by what:
//
//	bare Reflectors                   Observer.ListerWatcher                            listwatch.go
//	single informers                  Observer.NewSharedIndexInformer                   shared_informer.go
//	informers with one handler        Observer.NewInformerWithOptions                   controller.go
//	informers that exist already      Observer.Informer                                 shared_informer.go
//	client-go's typed factory         Observer.SharedInformerFactory                    factory.go, factory_groups.go,
//	                                                                                    client_kinds.go
//	factories of other clientsets     InformerFor                                       generated_factory.go
//	dynamic factories                 Observer.DynamicSharedInformerFactory             dynamic_factory.go,
//	                                                                                    resource_factory.go
//	metadata factories                Observer.MetadataSharedInformerFactory            metadata_factory.go,
//	                                                                                    resource_factory.go
//	controller-runtime's caches       Observer.NewInformerFunc                          new_informer_func.go, locate.go
//	work queues                       NewQueue                                          queue.go
//	work queues that exist already    WrapQueue                                         queue_wrap.go
//	rate limiters of other queues,    RateLimiter                                       rate_limiter.go
//	such as controller-runtime's
//	reconcilers and sync handlers     Reconciler, SyncHandler                           reconciler.go
//	clean-ups for finalizers          Finalizer, FinalizerRollback                      finalizer.go
//	clients                           Observer.WrapConfig, Observer.WrapTransport       transport.go
//	locks of leader election          Observer.Lock                                     leader.go
//
// Names, help texts and buckets stand in the package catalog; vecs.go turns them into metrics, and upstream.go those that
// are client-go's own. group.go holds the series of informers with the same labels, and informer.go what the decorators
// of one informer share; queue_series.go holds the series of queues and rate limiters, dropped.go that of items that are
// given up, controllers.go those of reconciles, clean-ups and shutdowns.
//
// # What it costs
//
// A read by key costs one atomic addition more, an event about 100 ns, an item of a queue about 50 ns from Add to Done, a
// reconcile about 200 ns, a request to the API server about a microsecond, none of them an allocation; an informer about
// 70 KiB, independent of what it holds. A scrape reads atomics. It holds for a moment the locks of each queue and each
// leader election, and that of each finalizer's clean-ups while it looks at those that have not succeeded, of which there
// are 10,000 at most. The version that a store has it reads as everybody does, so that index functions that take long
// hold up a scrape too. Only where events do not tell how many objects a store holds, because its connection is not
// decorated, a Transform has dropped or renamed some, or a watch began at no particular version, it lists their keys.
// `make bench` measures all of it on your machine.
package collectors
