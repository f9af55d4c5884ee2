// Package catalog is the single source of truth of informer-exporter: every metric of the library and the exporter, and
// every threshold in dashboards, alert rules, runbooks and documentation.
//
// Both are plain values. The package imports only the standard library, so that code which generates dashboards or
// documentation does not depend on Prometheus or Kubernetes.
//
// Files:
//
//	catalog.go     the types: Metric, Counter, Gauge, Histogram, Summary, Label, Family; All and ByName
//	stability.go   how metrics may change from one release to the next
//	all.go         every metric, listed
//	labels.go      the labels of informer metrics, with their values if these are a closed set
//	controller_labels.go
//	               the labels of controllers, locks and clients
//	buckets.go     the bucket layouts of the histograms
//	cache.go       the caches of informers
//	sync.go        lists, relists and their errors
//	watch.go       watches, their ends and the events on them
//	lag.go         how far caches and handlers lag behind the API server
//	handlers.go    event handlers
//	verification.go
//	               audits, key collisions and mutations
//	versions.go    resource versions
//	pollution.go   transforms, duplicate and orphaned informers
//	queues.go controllers.go finalizers.go
//	               work queues, reconciles and shutdown, finalizer cleanups
//	leader.go leases.go
//	               leader election, and Leases as the exporter sees them
//	objects.go     terminating objects and observed generation lag
//	client.go      requests to the API server
//	upstream.go    client-go's own metrics
//	foreign.go     programs without the library, and the API server
//	tracing.go     exported and dropped trace spans
//	series.go      label limits
//	exporter.go    the exporter itself
//	objective.go   the types: Objective, BurnRate, Severity
//	objectives.go  every objective with its threshold
//	targets.go     the objectives in effect, after a user's overrides
//	scrapes.go     the shortest window and for of an alert at a scrape interval
//	format.go      thresholds and durations as people and Prometheus write them
//
// The name of a metric is written once, where it is declared. All other code refers to the Go value or is tested against it.
package catalog
