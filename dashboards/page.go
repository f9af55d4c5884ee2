package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

const gridWidth = 24

// page is a dashboard before it is laid out.
type page struct {
	uid, title, description string
	variables               []variable
	// alerts is a regular expression of the alerts to mark on the graphs, empty for none.
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
	// collapsed hides the panels: their queries run only once the row is opened.
	collapsed bool
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
	variables := p.variables
	if c.LogsURL != "" {
		variables = append(slices.Clone(variables), p.logVariables()...)
	}
	for _, v := range variables {
		b.WithVariable(v.build(f))
	}
	if p.alerts != "" {
		b.Annotation(p.alertMarks("Pages", catalog.Page, f)).Annotation(p.alertMarks("Tickets", catalog.Ticket, f))
	}
	if p.leaders {
		b.Annotation(p.leaderMarks(f))
	}
	b.Link(sdk.NewDashboardLinkBuilder("Informer dashboards").Type(sdk.DashboardLinkTypeDashboards).
		Tags([]string{"informer-exporter"}).AsDropdown(true).IncludeVars(true).KeepTime(true))
	if c.RunbookBase != "" {
		b.Link(sdk.NewDashboardLinkBuilder("Runbooks").Type(sdk.DashboardLinkTypeLink).Icon("doc").
			Tooltip("Runbooks of the alerts").Url(c.RunbookBase).TargetBlank(true))
	}
	if c.LogsURL != "" && len(p.logVariables()) > 0 {
		b.Link(sdk.NewDashboardLinkBuilder("Logs").Type(sdk.DashboardLinkTypeLink).Icon("doc").
			Tooltip("Logs of the selected processes").Url(logsURL(c.LogsURL)).TargetBlank(true))
	}
	d, err := b.Build()
	if err != nil {
		return Dashboard{}, err
	}
	if d.Panels, err = p.layOut(f); err != nil {
		return Dashboard{}, err
	}
	raw, err := encode(importable{d, requirements(d.Panels)})
	return Dashboard{UID: p.uid, Title: p.title, JSON: raw}, err
}

// layOut assigns a position to every panel. The panels of a collapsed row are inside it, and take no space on the page.
func (p page) layOut(f filler) ([]sdk.PanelOrRowPanel, error) {
	var list []sdk.PanelOrRowPanel
	var y uint32
	for _, r := range p.rows {
		heading, err := sdk.NewRowBuilder(r.title).Id(r.id).Collapsed(r.collapsed).GridPos(sdk.GridPos{Y: y, W: gridWidth, H: 1}).Build()
		if err != nil {
			return nil, fmt.Errorf("row %q: %w", r.title, err)
		}
		y++
		panels, bottom, err := r.layOut(y, f)
		if err != nil {
			return nil, fmt.Errorf("row %q, %w", r.title, err)
		}
		if r.collapsed {
			heading.Panels = panels
		}
		list = append(list, sdk.PanelOrRowPanel{RowPanel: &heading})
		if r.collapsed {
			continue
		}
		y = bottom
		for i := range panels {
			list = append(list, sdk.PanelOrRowPanel{Panel: &panels[i]})
		}
	}
	return list, nil
}

func (r row) layOut(y uint32, f filler) (panels []sdk.Panel, bottom uint32, err error) {
	for _, l := range r.lines {
		var x uint32
		for i, spec := range l.panels {
			built, err := spec.panel(sdk.GridPos{X: x, Y: y, W: l.width(i), H: l.height}, f)
			if err != nil {
				return nil, 0, fmt.Errorf("panel %d: %w", i+1, err)
			}
			panels = append(panels, built)
			x += l.width(i)
		}
		y += l.height
	}
	return panels, y, nil
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
