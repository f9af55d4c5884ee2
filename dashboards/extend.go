package dashboards

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const (
	firstForeignID = 10_000 // ours are far below
	foreignHeight  = 9
)

// WithRow returns the dashboard with one more row at its end, for metrics of one's own: a heading and, below it, panels
// side by side, at most 24. They are made with the builders of grafana-foundation-sdk; their ids and places are set here.
func (d Dashboard) WithRow(title string, panels ...cog.Builder[sdk.Panel]) (Dashboard, error) {
	if len(panels) == 0 || len(panels) > gridWidth {
		return Dashboard{}, fmt.Errorf("row %q: %d panels do not fit, 1 to %d do", title, len(panels), gridWidth)
	}
	tree := map[string]any{}
	if err := json.Unmarshal(d.JSON, &tree); err != nil {
		return Dashboard{}, fmt.Errorf("row %q: %w", title, err)
	}
	list, _ := tree["panels"].([]any)
	id, bottom := foreign(list)

	heading, err := sdk.NewRowBuilder(title).Id(id).GridPos(sdk.GridPos{Y: bottom, W: gridWidth, H: 1}).Build()
	if err != nil {
		return Dashboard{}, fmt.Errorf("row %q: %w", title, err)
	}
	built := []any{heading}
	width := gridWidth / uint32(len(panels))
	for i, b := range panels {
		p, err := b.Build()
		if err != nil {
			return Dashboard{}, fmt.Errorf("row %q, panel %d: %w", title, i+1, err)
		}
		own := id + uint32(i) + 1
		p.Id, p.GridPos = &own, &sdk.GridPos{X: width * uint32(i), Y: bottom + 1, W: width, H: foreignHeight}
		built = append(built, p)
	}
	raw, err := json.Marshal(built)
	if err != nil {
		return Dashboard{}, fmt.Errorf("row %q: %w", title, err)
	}
	var more []any
	if err := json.Unmarshal(raw, &more); err != nil {
		return Dashboard{}, fmt.Errorf("row %q: %w", title, err)
	}
	tree["panels"] = append(list, more...)
	d.JSON, err = encode(tree)
	return d, err
}

// foreign returns the next id for a panel that is not ours, and the line below the last panel.
func foreign(panels []any) (id, bottom uint32) {
	id = firstForeignID
	for _, p := range panels {
		p, _ := p.(map[string]any)
		pos, _ := p["gridPos"].(map[string]any)
		number := func(of map[string]any, key string) uint32 {
			n, _ := of[key].(float64)
			return uint32(n)
		}
		bottom = max(bottom, number(pos, "y")+number(pos, "h"))
		id = max(id, number(p, "id")+1)
	}
	return id, bottom
}
