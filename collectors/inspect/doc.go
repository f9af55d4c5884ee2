// Package inspect serves what a metric must not contain as JSON: the names of items that a controller keeps retrying.
//
// Its responses name objects. Serve them only to authenticated clients, such as next to metrics that are:
//
//	mux.Handle(inspect.ControllersPath, authenticated(inspect.NewHandler(obs)))
//	err := mgr.AddMetricsServerExtraHandler(inspect.ControllersPath, inspect.NewHandler(obs)) // with controller-runtime
package inspect
