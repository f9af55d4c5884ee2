// Package catalog is the single source of truth of informer-exporter: every metric that the library and the exporter
// report, and every threshold that a dashboard line, an alert rule, a runbook or the README quotes.
//
// Both are plain values. Nothing here measures, registers or draws anything, and the package imports only the standard
// library, so that code which generates dashboards or documentation can read it without pulling in Prometheus or
// Kubernetes.
//
// The map:
//
//	catalog.go     the types: Metric, Counter, Gauge, Histogram, Label, Family; All and ByName
//	all.go         every metric, listed
//	labels.go      the labels of informers' metrics, with their closed sets of values, where they have one
//	controller_labels.go
//	               those of controllers, locks and clients
//	buckets.go     the bucket layouts of the histograms
//	cache.go       the caches of informers
//	sync.go        lists, relists and their errors
//	watch.go       watches, their ends and the events on them
//	lag.go         how far caches and handlers lag behind the API server
//	handlers.go    event handlers
//	versions.go    resource versions
//	pollution.go   transforms, duplicate and orphaned informers
//	queues.go controllers.go finalizers.go
//	               work queues, reconciles and shutdown, finalizer cleanups
//	leader.go      leader election
//	client.go      requests to the API server
//	upstream.go    client-go's own metrics
//	series.go      label limits
//	exporter.go    the exporter about itself
//	objective.go   the types: Objective, BurnRate, Severity
//	objectives.go  every objective with its threshold
//	targets.go     the thresholds in force, after a user's overrides
//	format.go      thresholds and durations as people and Prometheus write them
//
// Names of metrics are written once, in the expression that declares them. Everything else refers to the Go value or is
// checked against it by a test.
package catalog
