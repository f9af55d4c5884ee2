package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const gridWidth = 24

// page is a dashboard before it is laid out.
type page struct {
	uid, title, description string
	variables               []variable
	// alerts is a regular expression of the alerts to mark on the graphs.
	alerts string
	// leaders also marks leader transitions.
	leaders bool
	rows    []row
}

// row is a heading with lines of panels below it.
type row struct {
	id    uint32
	title string
	lines []line
}

// line is a line of panels of equal height.
type line struct {
	height uint32
	panels []panel
	// widths are the panels' widths, which add up to gridWidth. Nil means equal widths.
	widths []uint32
}

func (l line) width(i int) uint32 {
	if l.widths == nil {
		return gridWidth / uint32(len(l.panels))
	}
	return l.widths[i]
}

// panel is a panel without a position.
type panel interface {
	panel(pos sdk.GridPos, f filler) (sdk.Panel, error)
}

// build lays the page out.
func (p page) build(c Config) (Dashboard, error) {
	f := newFiller(c)
	//nolint:staticcheck // SA1019: the recommended builder emits schema v2, which Grafana before 13 and the operator's CRD cannot load.
	b := sdk.NewDashboardBuilder(p.title).
		Uid(p.uid).Description(p.description).Tags([]string{"informer-exporter", "kubernetes"}).
		Readonly().Timezone("browser").Time("now-1h", "now").Refresh("30s").
		Tooltip(sdk.DashboardCursorSyncCrosshair).
		WithVariable(sdk.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
	for _, v := range p.variables {
		b.WithVariable(v.build(f))
	}
	b.Annotation(firingAlerts(p.alerts, f))
	if p.leaders {
		b.Annotation(leaderMarks(f))
	}
	b.Link(sdk.NewDashboardLinkBuilder("Informer dashboards").Type(sdk.DashboardLinkTypeDashboards).
		Tags([]string{"informer-exporter"}).AsDropdown(true).IncludeVars(true).KeepTime(true))
	if c.RunbookBase != "" {
		b.Link(sdk.NewDashboardLinkBuilder("Runbooks").Type(sdk.DashboardLinkTypeLink).Icon("doc").
			Tooltip("Runbooks of the alerts").Url(c.RunbookBase).TargetBlank(true))
	}
	d, err := b.Build()
	if err != nil {
		return Dashboard{}, err
	}
	if d.Panels, err = p.layOut(f); err != nil {
		return Dashboard{}, err
	}
	raw, err := encode(d)
	return Dashboard{UID: p.uid, Title: p.title, JSON: raw}, err
}

// layOut assigns a position to every panel.
func (p page) layOut(f filler) ([]sdk.PanelOrRowPanel, error) {
	var list []sdk.PanelOrRowPanel
	var y uint32
	for _, r := range p.rows {
		heading, err := sdk.NewRowBuilder(r.title).Id(r.id).GridPos(sdk.GridPos{Y: y, W: gridWidth, H: 1}).Build()
		if err != nil {
			return nil, fmt.Errorf("row %q: %w", r.title, err)
		}
		list = append(list, sdk.PanelOrRowPanel{RowPanel: &heading})
		y++
		for _, l := range r.lines {
			var x uint32
			for i, spec := range l.panels {
				built, err := spec.panel(sdk.GridPos{X: x, Y: y, W: l.width(i), H: l.height}, f)
				if err != nil {
					return nil, fmt.Errorf("row %q, panel %d: %w", r.title, i+1, err)
				}
				list = append(list, sdk.PanelOrRowPanel{Panel: &built})
				x += l.width(i)
			}
			y += l.height
		}
	}
	return list, nil
}

// Regular expressions of alert names. The alerts about leader election and API clients are among those of controllers.
const (
	informerAlerts   = "Informer.+"
	controllerAlerts = "Controller.+"
	clusterAlerts    = "Cluster.+"
)

// firingAlerts marks firing alerts on every graph.
func firingAlerts(names string, f filler) cog.Builder[sdk.AnnotationQuery] {
	// One mark per alert and program, so that overlapping marks do not hide the graphs.
	expr := `max by (alertname, severity, name) (ALERTS{alertname=~"` + names + `", alertstate="firing", @cluster=~"$cluster"})`
	return sdk.NewAnnotationQueryBuilder().
		Name("Firing alerts").Datasource(dataSource()).Enable(true).IconColor(red).
		Expr(f.fill(expr)).Target(query{expr: expr}.build("Anno", f)).
		TitleFormat("{{alertname}}").TextFormat("{{name}}").TagKeys("severity")
}

// leaderMarks marks leader transitions of programs with the library, and Lease transitions of all programs.
func leaderMarks(f filler) cog.Builder[sdk.AnnotationQuery] {
	expr := `max by (@cluster, name, lock) (increase(controller_leader_transitions_total{@, event="acquired", @cluster=~"$cluster"}[$__rate_interval])) > 0 or max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@, @cluster=~"$cluster"}[$__rate_interval])) > 0`
	return sdk.NewAnnotationQueryBuilder().
		Name("Leader transitions").Datasource(dataSource()).Enable(true).IconColor("blue").
		Expr(f.fill(expr)).Target(query{expr: expr}.build("Anno", f)).
		TitleFormat("New leader").TextFormat("{{name}} {{lock}}{{lease_namespace}} {{lease}}")
}

// encode encodes a dashboard deterministically and with readable PromQL: the SDK's marshalers escape <, > and &, so their
// output is decoded and encoded again.
func encode(dashboard any) ([]byte, error) {
	escaped, err := json.Marshal(dashboard)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(escaped))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(tree)
	return b.Bytes(), err
}
