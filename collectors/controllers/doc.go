// Package controllers observes what controllers do with the items of their queues: reconciles, finalizer cleanups, stale reads and
// the shutdown. Its decorators wrap the controller's own functions; they never decide, retry or recover.
//
//	sync = controllers.NewSyncHandler(obs, "deployments", sync, controllers.Options{MaxWorkers: 4})
//	cleanup = controllers.NewFinalizer(obs, "deployments", finalizer, cleanup, controllers.FinalizerOptions{})
//
// The series of a controller exist as long as its Observer, unless Forget deletes them.
package controllers
