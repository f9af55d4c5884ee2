// Package dashboards holds the Grafana dashboards, in the classic schema that Grafana 10 to 13 load. Lines and colours
// come from the catalog's objectives; the PromQL is written out.
//
// The map:
//
//	dashboards.go  Config, Dashboard; All
//	page.go        how a dashboard is put together: rows, grid, JSON
//	variables.go   the variables of each dashboard, and how queries select by them
//	style.go       the house style: what every panel of a type looks like
//
//	overview.go    the table of contents of the overview of informers
//	summary.go sync.go watch.go lag.go handlers.go cache.go versions.go pollution.go audit.go upstream.go exporter.go
//	               its rows, one function a panel
//	controllers.go the table of contents of queues and reconciles
//	controllers_summary.go queues.go retries.go reconciles.go finalizers.go
//	               its rows
//	leader_election.go
//	               the table of contents of leader election
//	leaders.go renewals.go leases.go
//	               its rows
//	api_client.go  the table of contents of requests to the API server
//	requests_summary.go requests.go
//	               its rows
//
//	objects.go     the table of contents of the cluster's objects
//	deletions.go generations.go
//	               its rows
//
//	validate.go    Validate: what a dashboard must keep to
//	rules.go       the list of its rules, and those of our own
//	linter.go      the rules of dashboard-linter
//
// To add a panel, write its function in the file of its row, give it an id that is free, and list it in the table of
// contents. To add a dashboard, write its table of contents, with variables of its own, and list it in All. Ids are
// written by hand because links to a panel must survive the insertion of another; Validate finds doubles.
package dashboards
