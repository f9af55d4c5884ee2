// Package generate turns the catalog, the alerts and the dashboards into files: what `exporter generate` writes and what
// the repository keeps under deploy.
//
// The map:
//
//	config.go      the generator's configuration file
//	files.go       Files: every file with its content
//	kubernetes.go  the manifests
//	grafana.go     Grafana's provisioning
//	rbac.go        what the exporter is granted
//	configuration.go  configuration.md
//	docs.go        metrics.md
//	write.go       Write: files into a folder, and stale ones out of it
//
// Files is a pure function: the same configuration gives the same bytes.
package generate
