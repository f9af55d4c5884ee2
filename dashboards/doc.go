// Package dashboards holds the Grafana dashboards, in the classic schema that Grafana 10 to 13 load. Lines and colours
// come from the catalog's objectives; the PromQL is written out.
//
// The map:
//
//	dashboards.go  Config, Dashboard; All
//	page.go        how a dashboard is put together: rows, grid, JSON
//	variables.go   the variables of each dashboard, and how queries select by them
//	extend.go      WithRow: panels of one's own
//	style.go       the house style: what a graph, a number and a heatmap look like
//	table.go timeline.go alert_list.go
//	               the same for the other types of panels
//
// Each dashboard has a table of contents, followed here by the files with its rows, one function a panel:
//
//	overview.go    all programs together
//	               fleet.go fleet_tables.go fleet_trends.go
//	detail.go      the life of informers
//	               summary.go lag.go watch.go sync.go handlers.go cache.go versions.go pollution.go audit.go upstream.go
//	controllers.go queues and reconciles
//	               controllers_summary.go queues.go retries.go reconciles.go finalizers.go
//	leader_election.go
//	               who leads, and the Leases of the cluster
//	               leaders.go renewals.go leases.go
//	objects.go     the cluster's objects
//	               deletions.go generations.go
//	api_client.go  requests to the API server
//	               requests_summary.go requests.go
//	exporter.go    the exporter itself
//	               exporter_summary.go exporter_kinds.go exporter_cost.go
//
// To add a panel, write its function in the file of its row, give it an id that is free, and list it in the table of
// contents. To add a dashboard, write its table of contents, with variables of its own, and list it in All. Ids are
// written by hand because links to a panel must survive the insertion of another; tests in test/e2e find duplicates, check
// every query with Prometheus' parser, and apply the rules of dashboard-linter.
package dashboards
