// Package inspect serves as JSON what metrics cannot contain: the names of items that a controller keeps retrying, what the program knows
// about one object, and what other forms of each cache would save. The commands explain and cost of informer-exporter print it.
//
// Its responses name objects. Serve them only to authenticated clients, such as next to metrics that are:
//
//	mux.Handle(inspect.ControllersPath, authenticated(inspect.NewHandler(obs)))
//	mux.Handle(inspect.ExplainPath, authenticated(inspect.NewHandler(obs)))
//	mux.Handle(inspect.CachesPath, authenticated(inspect.NewHandler(obs)))
//
// With controller-runtime, add each path to the metrics server:
//
//	err := mgr.AddMetricsServerExtraHandler(inspect.ExplainPath, inspect.NewHandler(controllerruntime.ObserverOf(mgr)))
package inspect
