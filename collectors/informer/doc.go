// Package informer observes informers: initial sync, relists, watch disconnects, lag, event handlers and the consistency of their
// caches. Its functions are drop-in replacements for those of client-go: the same name and parameters, with an Observer in front
// and Options at the end.
//
//	factory := informer.NewSharedInformerFactory(obs, client, resync, informer.FactoryOptions{})
//
// The constructors:
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
// Applications read the state with Statuses, SyncLag, AssertSynced and NotifyDegraded. Checks that compare caches with the API server
// are off by default: see collectors.Checks.
//
// All functions are safe for concurrent use. Decorators add about 300 ns and at most one allocation to an event, and one atomic
// addition to a read by key. Series exist from the creation of an informer until its Run returns or, if it is never run, until it is
// garbage-collected.
package informer
