package dashboards

import (
	"encoding/json"
	"fmt"
)

// model is the part of a classic dashboard that the rules look at.
type model struct {
	UID           string       `json:"uid"`
	Title         string       `json:"title"`
	Description   string       `json:"description"`
	Editable      *bool        `json:"editable"`
	SchemaVersion int          `json:"schemaVersion"`
	Tags          []string     `json:"tags"`
	Panels        []panelModel `json:"panels"`
	Links         []linkModel  `json:"links"`
	Templating    struct {
		List []variableModel `json:"list"`
	} `json:"templating"`
}

type panelModel struct {
	ID          uint32          `json:"id"`
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Datasource  *refModel       `json:"datasource"`
	GridPos     *gridModel      `json:"gridPos"`
	Targets     []targetModel   `json:"targets"`
	Panels      []panelModel    `json:"panels"`
	Options     json.RawMessage `json:"options"`
	FieldConfig struct {
		Defaults struct {
			Unit  string      `json:"unit"`
			Links []linkModel `json:"links"`
		} `json:"defaults"`
		Overrides []struct {
			Properties []any `json:"properties"`
		} `json:"overrides"`
	} `json:"fieldConfig"`
}

type gridModel struct{ X, Y, W, H int }

type refModel struct{ Type, UID string }

type linkModel struct{ Type, Title, URL string }

type targetModel struct {
	RefID      string    `json:"refId"`
	Expr       string    `json:"expr"`
	Legend     string    `json:"legendFormat"`
	Instant    bool      `json:"instant"`
	Format     string    `json:"format"`
	Datasource *refModel `json:"datasource"`
}

type variableModel struct {
	Name       string    `json:"name"`
	Label      string    `json:"label"`
	Type       string    `json:"type"`
	Datasource *refModel `json:"datasource"`
	Multi      bool      `json:"multi"`
	IncludeAll bool      `json:"includeAll"`
	AllValue   string    `json:"allValue"`
	Refresh    int       `json:"refresh"`
	Definition string    `json:"definition"`
	Query      any       `json:"query"`
}

// Validate returns what is wrong with a classic dashboard: what Grafana would draw badly without saying so, and what
// dashboard-linter would complain about. The SDK's own validation finds neither.
func Validate(raw []byte) []error {
	var m model
	if err := json.Unmarshal(raw, &m); err != nil {
		return []error{fmt.Errorf("no dashboard: %w", err)}
	}
	var problems []error
	for _, r := range rules {
		for _, p := range r.check(m) {
			problems = append(problems, fmt.Errorf("%s: %s", r.name, p))
		}
	}
	return problems
}

// queriesOf lists the queries of all panels.
func queriesOf(raw []byte) ([]Query, error) {
	var m model
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	var list []Query
	for _, p := range m.flat() {
		for _, t := range p.Targets {
			list = append(list, Query{Panel: p.Title, Expr: t.Expr, Instant: t.Instant})
		}
	}
	return list, nil
}

// flat returns all panels, those inside rows included.
func (m model) flat() []panelModel {
	var list []panelModel
	for _, p := range m.Panels {
		list = append(list, p)
		list = append(list, p.Panels...)
	}
	return list
}

// drawn returns all panels but rows.
func (m model) drawn() []panelModel {
	var list []panelModel
	for _, p := range m.flat() {
		if p.Type != "row" {
			list = append(list, p)
		}
	}
	return list
}
