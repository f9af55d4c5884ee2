// Package controllers observes what controllers do with the items of their queues: reconciles, finalizer cleanups, stale
// reads and the shutdown. Its decorators are functions around the controller's own; they never decide, retry or recover.
//
//	sync = controllers.NewSyncHandler(obs, "deployments", sync, controllers.Options{MaxWorkers: 4})
//	cleanup = controllers.NewFinalizer(obs, "deployments", finalizer, cleanup, controllers.FinalizerOptions{})
//
// The series of a controller exist as long as its Observer, unless Forget deletes them.
//
//	reconciler.go   reconciles by result, active workers
//	finalizer.go    cleanup attempts, overdue cleanups, rollbacks
//	stale_reads.go  reads of a cache that is older than the controller's own writes
//	spans.go        spans of reconciles, cleanups and rollbacks, and log lines of cleanups
//	shutdown.go     duration and result of each step of the shutdown
//	series.go       the series of a controller, shared by its decorators; Forget
//	values.go       values of labels with a closed set
package controllers
