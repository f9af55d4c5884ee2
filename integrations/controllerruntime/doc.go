// Package controllerruntime observes an operator that is built on controller-runtime: its requests, informers, leader election, and
// each controller's reconciles, queue and rate limiter. NewManager replaces ctrl.NewManager; nothing else in the operator changes.
//
//	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{ /* as before */ },
//		controllerruntime.Options{Name: "my-operator"})
//
// The manager's /metrics then also has the library's metrics. The decorated manager behaves like the plain one: it makes the same
// requests, retries at the same times, records the same Events and stops in the same order.
//
// Controllers with requests other than reconcile.Request are observed if Options.Requests has their type. The manager logs a
// message, with what to do, for each controller, cache and queue that it cannot observe. They work as they would without the package.
//
// Each additional cluster needs a separate Observer: see NewCluster. With multicluster-runtime, pass the decorated manager as the
// local manager.
package controllerruntime
