// Package catalog defines every metric of the library and the exporter, and every threshold in dashboards, alert rules, runbooks and
// documentation, which are generated from it.
//
// Both are plain values. The package imports only the standard library, so code that generates dashboards or documentation does
// not depend on Prometheus or Kubernetes. The name of a metric is written once, where it is declared.
//
// Experimental: the API may change in any release.
package catalog
