package generate

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// Panels returns the panels that read each metric, directly or through one of the recording rules, as "dashboard: panel". boards
// have the classic schema.
func Panels(rules []alerts.Group, boards []dashboards.Dashboard) (map[string][]string, error) {
	recorded := map[string]string{}
	for _, g := range rules {
		for _, r := range g.Rules {
			// The prefix is that of records about jobs, alerts and the exporter itself, which say nothing about a single metric.
			if r.Record != "" && !strings.HasPrefix(r.Record, "cluster:informer_exporter_") {
				recorded[r.Record] += " " + r.Expr
			}
		}
	}
	type panel struct {
		Title   string
		Targets []struct{ Expr string }
	}
	all := map[string][]string{}
	for _, d := range boards {
		var model struct {
			Panels []struct {
				panel
				Panels []panel
			}
		}
		if err := json.Unmarshal(d.JSON, &model); err != nil {
			return nil, err
		}
		for _, p := range model.Panels {
			for _, p := range append([]panel{p.panel}, p.Panels...) {
				for _, target := range p.Targets {
					for _, name := range metricsIn(target.Expr, recorded) {
						all[name] = add(all[name], d.Title+": "+p.Title)
					}
				}
			}
		}
	}
	return all, nil
}

var (
	word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	// filters matches parts of a query that read a metric only to find out which programs exist.
	filters = regexp.MustCompile(`(?s)(and|unless) on \([^)]*\) \w+|\b0 \* count.*`)
)

// metricsIn returns the metrics that a query reads, also through recording rules.
func metricsIn(query string, recorded map[string]string) (names []string) {
	for _, w := range word.FindAllString(filters.ReplaceAllString(query, ""), -1) {
		if expr, ok := recorded[w]; ok {
			names = add(names, metricsIn(expr, recorded)...)
			continue
		}
		name := w
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if _, ok := catalog.ByName(name); !ok {
				name = strings.TrimSuffix(w, suffix)
			}
		}
		if _, ok := catalog.ByName(name); ok {
			names = add(names, name)
		}
	}
	return names
}

func add(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
