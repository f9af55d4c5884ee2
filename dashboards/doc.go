// Package dashboards holds the Grafana dashboards, in the classic schema that Grafana 10 to 13 load. Lines and colours
// come from the catalog's objectives; the PromQL is written out.
//
// The map:
//
//	dashboards.go  Config, Dashboard; All
//	page.go        how a dashboard is put together: variables, rows, grid, JSON
//	style.go       the house style: what every panel of a type looks like
//	overview.go    the table of contents of the overview
//	summary.go sync.go watch.go lag.go handlers.go cache.go exporter.go
//	               its rows, one function a panel
//	validate.go    Validate: what a dashboard must keep to
//	rules.go       the list of its rules, and those of our own
//	linter.go      the rules of dashboard-linter
//
// To add a panel, write its function in the file of its row, give it an id that is free, and list it in overview.go. To
// add a dashboard, write its table of contents and list it in All. Ids are written by hand because links to a panel must
// survive the insertion of another; Validate finds doubles.
package dashboards
