// Package informer decorates informers and reports on their caches, connections and handlers. Its functions are drop-in
// replacements for those of client-go: the same name and parameters, with an Observer in front and Options at the end.
//
//	factory := informer.NewSharedInformerFactory(obs, client, resync, informer.Options{})
//
// Decorators:
//
//	client-go's typed factory          NewSharedInformerFactory
//	factories of other clientsets      InformerFor
//	dynamic and metadata factories     NewDynamicSharedInformerFactory,
//	                                   NewMetadataSharedInformerFactory
//	controller-runtime's caches        NewInformerFunc
//	single informers                   NewSharedIndexInformer
//	existing informers                 Wrap
//	informers with one handler         NewInformerWithOptions
//	bare Reflectors                    NewListerWatcher
//	handlers                           NamedHandler, Isolate
//
// What is observed, and where:
//
//	connection to the API server       ListerWatcher
//	reads of the store                 GetIndexer, GetStore, listers
//	event lag, handler duration        AddEventHandler
//	updates that change nothing        AddEventHandler
//	freshness, audits, mutations       separate requests and reads
//	whether lag is above an objective  NotifyDegraded, Status
//	client-go's own metrics            InformerMetricsProvider
//
// All functions are safe for concurrent use. Decorators add about 300 ns and at most one allocation to an event, and one atomic
// addition to a read by key. Series exist from the creation of an informer until its Run returns or, if it is never run, until
// it is garbage-collected.
package informer
