package dashboards

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const (
	firstCustomID = 10_000 // above the generated IDs
	customHeight  = 9
)

// WithRow returns the dashboard with a row of 1 to 24 custom panels at its end. Panels are built with grafana-foundation-sdk;
// WithRow sets their IDs and positions. It returns an error for any other number of panels, or if a panel cannot be built.
func (d Dashboard) WithRow(title string, panels ...cog.Builder[sdk.Panel]) (Dashboard, error) {
	raw, err := d.appendRow(title, panels)
	if err != nil {
		return Dashboard{}, fmt.Errorf("row %q: %w", title, err)
	}
	d.JSON = raw
	return d, nil
}

func (d Dashboard) appendRow(title string, panels []cog.Builder[sdk.Panel]) ([]byte, error) {
	if len(panels) == 0 || len(panels) > gridWidth {
		return nil, fmt.Errorf("%d panels, want 1 to %d", len(panels), gridWidth)
	}
	tree := map[string]any{}
	if err := json.Unmarshal(d.JSON, &tree); err != nil {
		return nil, err
	}
	list, _ := tree["panels"].([]any)
	id, bottom := end(list)

	heading, err := sdk.NewRowBuilder(title).Id(id).GridPos(sdk.GridPos{Y: bottom, W: gridWidth, H: 1}).Build()
	if err != nil {
		return nil, err
	}
	list = append(list, heading)
	width := gridWidth / uint32(len(panels))
	for i, b := range panels {
		p, err := b.Build()
		if err != nil {
			return nil, fmt.Errorf("panel %d: %w", i+1, err)
		}
		p.Id, p.GridPos = new(id+uint32(i)+1), &sdk.GridPos{X: width * uint32(i), Y: bottom + 1, W: width, H: customHeight}
		list = append(list, p)
	}
	tree["panels"] = list
	return encode(tree)
}

// end returns the next id for a custom panel, and the position below the last panel.
func end(panels []any) (id, bottom uint32) {
	id = firstCustomID
	for _, p := range panels {
		p, _ := p.(map[string]any)
		pos, _ := p["gridPos"].(map[string]any)
		number := func(m map[string]any, key string) uint32 {
			n, _ := m[key].(float64)
			return uint32(n)
		}
		bottom = max(bottom, number(pos, "y")+number(pos, "h"))
		id = max(id, number(p, "id")+1)
	}
	return id, bottom
}
