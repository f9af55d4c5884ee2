// Package generate turns the catalog, the alerts and the dashboards into the files that `exporter generate` writes and that
// the repository has under deploy.
//
// Files:
//
//	config.go      the generator's configuration file
//	files.go       Files: every file with its content
//	kubernetes.go  the manifests
//	resources.go   their labels, namespaces and folders
//	grafana.go     Grafana's provisioning
//	rbac.go        the permissions of the exporter
//	configuration.go  configuration.md
//	release.go     the release that links point to
//	docs.go        metrics.md
//	write.go       Write: writes files to a directory and removes stale ones
//
// Files is a pure function: the same configuration gives the same bytes.
package generate
