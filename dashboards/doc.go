// Package dashboards generates the Grafana dashboards for informers, controllers and the exporter, in the classic schema that
// Grafana 10 to 13 load. All returns them; WithRow adds panels of your own. Thresholds come from the catalog's objectives.
//
// Experimental: the API may change in any release.
//
// # Adding a panel
//
// Define the panel with an unused ID, and list it in its dashboard. IDs are fixed, so that links to a panel stay valid when others
// are added. PromQL is written out, with placeholders for selectors and labels. To add a dashboard, list it in All. Tests in
// test/e2e check IDs, parse every query and apply the rules of dashboard-linter.
package dashboards
