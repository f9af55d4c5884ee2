// Package informer decorates informers and reports on their caches, connections and handlers. Its functions are drop-in
// replacements for those of client-go: the same name and parameters, with an Observer in front and Options at the end.
//
//	factory := informer.NewSharedInformerFactory(obs, client, resync, informer.Options{})
//
// Decorators:
//
//	client-go's typed factory          NewSharedInformerFactory          factory.go, factory_groups.go, hidden.go
//	factories of other clientsets      InformerFor                       generated_factory.go
//	dynamic and metadata factories     NewDynamicSharedInformerFactory,  resource_factories.go, resource_factory.go
//	                                   NewMetadataSharedInformerFactory
//	controller-runtime's caches        NewInformerFunc                   new_informer_func.go
//	single informers                   NewSharedIndexInformer            shared_informer.go, resync.go
//	existing informers                 Wrap                              shared_informer.go
//	informers with one handler         NewInformerWithOptions            controller.go
//	bare Reflectors                    NewListerWatcher                  listerwatcher.go
//	handlers                           NamedHandler, Isolate             handler_options.go
//
// What is observed, and where:
//
//	connection to the API server       ListerWatcher                     listerwatcher.go, internal/stream
//	reads of the store                 GetIndexer, GetStore, listers     indexer.go
//	event lag, handler duration        AddEventHandler                   handler.go, internal/ring
//	updates that change nothing        AddEventHandler                   handler.go, internal/updates
//	freshness, audits, mutations       separate requests and reads       checks.go, internal/checks
//	whether lag is above an objective  NotifyDegraded, Status            checks.go, internal/degrade
//	client-go's own metrics            InformerMetricsProvider           upstream.go
//
// Files depend on each other from top to bottom. collect.go and status.go serve scrapes and status pages. The constructors
// above add an informer to registry.go, which also has the state that the informers of an Observer share. The decorators of
// one informer share informer.go, and informers with the same labels share metrics.go. ID and Options are in options.go.
//
// newer.go, and factory_groups.go for factories, use newer APIs of client-go and compile with older versions.
//
// All functions are safe for concurrent use. Decorators add about 300 ns and at most one allocation to an event, and one atomic
// addition to a read by key. Series exist from the creation of an informer until its Run returns or, if it is never run, until
// it is garbage-collected.
package informer
