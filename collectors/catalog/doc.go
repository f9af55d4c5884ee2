// Package catalog is the single source of truth of informer-exporter: every metric of the library and the exporter, and
// every threshold in dashboards, alert rules, runbooks and documentation.
//
// Both are plain values. The package imports only the standard library, so that code which generates dashboards or
// documentation does not depend on Prometheus or Kubernetes.
//
// The name of a metric is written once, where it is declared. All other code refers to the Go value or is tested against it.
package catalog
