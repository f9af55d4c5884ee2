// Package schema2 writes the generated dashboards in the schema dashboard.grafana.app/v2 of Grafana 13.
//
// Convert translates the classic JSON, so that both schemas have one description: the package dashboards. It rejects fields that
// it does not know instead of losing them. Rows become tabs. In the tabs of collapsed rows, panels without data are hidden. The
// tab itself is hidden if none of its metrics exists: Grafana hides panels of an auto grid by their data, and tabs by a variable.
package schema2
