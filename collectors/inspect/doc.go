// Package inspect serves what a metric must not contain as JSON: the names of items that a controller keeps retrying, and what the
// program knows about one object.
//
// Its responses name objects. Serve them only to authenticated clients, such as next to metrics that are:
//
//	mux.Handle(inspect.ControllersPath, authenticated(inspect.NewHandler(obs)))
//	mux.Handle(inspect.ExplainPath, authenticated(inspect.NewHandler(obs)))
//
// With controller-runtime, add both paths to the metrics server:
//
//	err := mgr.AddMetricsServerExtraHandler(inspect.ExplainPath, inspect.NewHandler(controllerruntime.ObserverOf(mgr)))
package inspect
