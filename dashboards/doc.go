// Package dashboards generates the Grafana dashboards, in the classic schema that Grafana 10 to 13 load. Thresholds come
// from the catalog's objectives; PromQL is written out, with placeholders for selectors and labels.
//
// Each dashboard lists its rows and panels in one file. Panels are variables in the files of their subject, or functions if their texts
// contain objectives.
//
// To add a panel, define it with an unused ID, and list it in its dashboard. IDs are fixed, so that links to a panel stay valid
// when others are added. To add a dashboard, list it in All. Tests in test/e2e check IDs, parse every query and apply the rules
// of dashboard-linter.
package dashboards
