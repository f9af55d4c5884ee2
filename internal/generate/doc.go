// Package generate turns the catalog, the alerts and the dashboards into the files that `informer-exporter generate` writes and that
// the repository has under deploy.
//
// Files is a pure function: the same configuration gives the same bytes.
package generate
