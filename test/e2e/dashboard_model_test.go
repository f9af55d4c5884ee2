package e2e_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// boardModel is the part of a classic dashboard that the rules check.
type boardModel struct {
	UID           string       `json:"uid"`
	Title         string       `json:"title"`
	Description   string       `json:"description"`
	Editable      *bool        `json:"editable"`
	SchemaVersion int          `json:"schemaVersion"`
	Tags          []string     `json:"tags"`
	Panels        []panelModel `json:"panels"`
	Links         []linkModel  `json:"links"`
	Annotations   struct {
		List []struct{ Name, Expr string } `json:"list"`
	} `json:"annotations"`
	Templating struct {
		List []variableModel `json:"list"`
	} `json:"templating"`
}

type panelModel struct {
	ID          uint32        `json:"id"`
	Type        string        `json:"type"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Datasource  *refModel     `json:"datasource"`
	GridPos     *gridModel    `json:"gridPos"`
	Targets     []targetModel `json:"targets"`
	// Transformations rename columns of tables and legends of graphs.
	Transformations []struct {
		ID      string `json:"id"`
		Options struct {
			RenameByName  map[string]string `json:"renameByName"`
			Regex         string            `json:"regex"`
			RenamePattern string            `json:"renamePattern"`
		} `json:"options"`
	} `json:"transformations"`
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

// board is a dashboard as Grafana reads it.
type board struct {
	boardModel
	JSON    []byte
	Queries []query
}

// query is a query of a panel.
type query struct {
	// Panel is the panel's title.
	Panel string
	// Expr is PromQL with Grafana's variables.
	Expr string
	// all has what each variable stands for at All.
	all *strings.Replacer
}

// Plain returns the query as Prometheus gets it, with every variable at All.
func (q query) Plain() string { return q.all.Replace(q.Expr) }

func readBoard(d dashboards.Dashboard) (board, error) {
	b := board{JSON: d.JSON}
	if err := json.Unmarshal(d.JSON, &b.boardModel); err != nil {
		return board{}, err
	}
	all := b.all()
	for _, p := range b.flat() {
		for _, t := range p.Targets {
			b.Queries = append(b.Queries, query{Panel: p.Title, Expr: t.Expr, all: all})
		}
	}
	return b, nil
}

// all replaces variables by what they stand for at All, and Grafana's own by a minute. A variable with a single value is treated
// like one with All, so that each query reads the series of all clusters.
func (m boardModel) all() *strings.Replacer {
	// Which of several equal series are among the first ten is random.
	pairs := []string{"$__rate_interval", rateInterval, "$__interval", rateInterval, "$__range_s", rateSeconds, "$__range", rateInterval, "topk(10, ", allOfTop}
	for _, v := range m.Templating.List {
		if v.IncludeAll {
			pairs = append(pairs, "$"+v.Name+`"`, v.AllValue+`"`, "$"+v.Name+`|"`, v.AllValue+`|"`)
		} else {
			pairs = append(pairs, `="$`+v.Name+`"`, `=~".*"`)
		}
	}
	return strings.NewReplacer(pairs...)
}

const allOfTop = "topk(1000, "

// chosen replaces variables like all, with one cluster chosen.
func (m boardModel) chosen(cluster, expr string) string {
	return m.all().Replace(strings.ReplaceAll(expr, "$cluster", cluster))
}

// boards returns the generated dashboards.
func boards(t *testing.T, c dashboards.Config) []board {
	t.Helper()
	all, err := dashboards.All(c)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]board, len(all))
	for i, d := range all {
		if list[i], err = readBoard(d); err != nil {
			t.Fatalf("%s: %v", d.UID, err)
		}
	}
	return list
}

// reference is a reference to a group of a regular expression in JavaScript.
var reference = regexp.MustCompile(`\$(\d)`)

// shown returns a legend as Grafana shows it, after the transformations of the panel.
func (p panelModel) shown(legend string) string {
	for _, tr := range p.Transformations {
		if tr.ID != "renameByRegex" {
			continue
		}
		expr := "^" + tr.Options.Regex + "$"
		if global, ok := strings.CutPrefix(tr.Options.Regex, "/"); ok {
			expr = strings.TrimSuffix(global, "/g")
		}
		legend = regexp.MustCompile(expr).ReplaceAllString(legend, reference.ReplaceAllString(tr.Options.RenamePattern, "$${$1}"))
	}
	return legend
}

// flat returns all panels, those inside rows included.
func (m boardModel) flat() []panelModel {
	var list []panelModel
	for _, p := range m.Panels {
		list = append(list, p)
		list = append(list, p.Panels...)
	}
	return list
}

// drawn returns all panels but rows.
func (m boardModel) drawn() []panelModel {
	var list []panelModel
	for _, p := range m.flat() {
		if p.Type != "row" {
			list = append(list, p)
		}
	}
	return list
}
