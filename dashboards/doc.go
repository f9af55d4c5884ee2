// Package dashboards generates the Grafana dashboards, in the classic schema that Grafana 10 to 13 load. Thresholds come
// from the catalog's objectives; PromQL is written out, with placeholders for selectors and labels.
//
//	dashboards.go   Config, Dashboard, All
//	page.go         layout of rows and panels, JSON
//	annotations.go  marks of alerts and leader transitions
//	variables.go    variables, and the selectors that use them
//	extend.go       WithRow: custom panels
//	style.go        graphs, stats and heat maps; colors, units and legends
//	table.go, timeline.go
//	                other types of panels
//
// Each dashboard lists its rows and panels in one file. Panels are variables in the files below it, or functions if their texts
// contain objectives:
//
//	fleet.go        all clusters
//	overview.go     all programs of a cluster
//	                overview_trends.go
//	detail.go       informers
//	                detail_summary.go, lag.go, watch.go, sync.go, handlers.go, cache.go, consistency.go
//	controllers.go  queues and reconciles
//	                controllers_summary.go, queues.go, reconciles.go
//	leader_election.go
//	                leaders.go, leases.go
//	objects.go      terminating objects and observed generation lag
//	                terminating.go
//	api_client.go   API server requests
//	                requests.go, api_server.go
//	exporter.go     the exporter itself
//	                exporter_summary.go, exporter_cost.go
//
// To add a panel, define it with an unused ID, and list it in its dashboard. IDs are fixed, so that links to a panel stay valid
// when others are added. To add a dashboard, list it in All. Tests in test/e2e check IDs, parse every query and apply the rules
// of dashboard-linter.
package dashboards
