// Package dashboards generates the Grafana dashboards for informers, controllers and the exporter, in the classic schema that
// Grafana 10 to 13 load. All returns them; WithRow adds panels of your own. Thresholds come from the catalog's objectives.
//
// The package is experimental: its API may change in a minor release.
//
// # Adding a panel
//
// Pages are files in the folder pages. Add a panel to a line of a page, with an ID that the page does not use: IDs are fixed, so that links to
// a panel stay valid when others are added. Queries are PromQL, apart from a few marks:
//
//	{@program}, @cluster             matchers by the variables, and names of labels; see selectors, and the package internal/prom
//	[@watch_disconnects]             the window of the objective with this ID; @watch_disconnects_seconds is its length
//	<<threshold event_lag>>          a number or a text of an objective: threshold, amount, count, allowed, budget, for_seconds, bound, bound_amount
//	<<occurred `x{@program}` 15m>>   the increase of a counter, with its first value
//	<<occurrences `x{@program}` `name`>>   a text of fragments.yaml with its arguments
//
// Tests in test/e2e check IDs, parse every query and apply the rules of dashboard-linter.
package dashboards
