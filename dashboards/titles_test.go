package dashboards_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// shown is a query of a panel and the texts that name it.
type shown struct {
	dashboard, panel, legend, expr, unit string
	// column is the title of the column of a table.
	column string
}

// text joins the texts that describe the query: the title, the column and the legend.
func (s shown) text() string { return s.panel + " / " + s.column + " / " + s.legend }

func (s shown) String() string { return s.dashboard + ", " + s.text() }

// queries returns the queries of all panels.
func queries(t *testing.T) (all []shown) {
	t.Helper()
	for _, d := range dashboardsOf(t) {
		var m struct {
			Panels []struct {
				Title       string
				FieldConfig struct {
					Defaults  struct{ Unit string }
					Overrides []struct {
						Matcher    struct{ ID, Options string }
						Properties []struct {
							ID    string
							Value any
						}
					}
				}
				Targets         []struct{ Expr, LegendFormat, RefID string }
				Transformations []struct {
					Options struct{ RenameByName map[string]string }
				}
			}
		}
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			columns, units := map[string]string{}, map[string]string{}
			for _, transformation := range p.Transformations {
				maps.Copy(columns, transformation.Options.RenameByName)
			}
			for _, o := range p.FieldConfig.Overrides {
				for _, property := range o.Properties {
					if property.ID == "unit" {
						units[o.Matcher.Options] = fmt.Sprint(property.Value)
					}
				}
			}
			for _, target := range p.Targets {
				s := shown{dashboard: d.UID, panel: p.Title, legend: target.LegendFormat, expr: target.Expr, unit: p.FieldConfig.Defaults.Unit}
				if title, ok := columns["Value #"+target.RefID]; ok {
					s.column, s.unit = title, cmp.Or(units[title], units["Value #"+target.RefID])
				}
				all = append(all, s)
			}
		}
	}
	if len(all) < 100 {
		t.Fatalf("%d queries", len(all))
	}
	return all
}

func dashboardsOf(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	return all(t, dashboards.Config{})
}

var (
	percentile = regexp.MustCompile(`\bp(\d+)\b`)
	quantile   = regexp.MustCompile(`histogram_quantile\(([0-9.]+)`)
	window     = regexp.MustCompile(`\bin (\d+) minutes`)
	averages   = regexp.MustCompile(`\bMean\b|\bper list\b`)
)

// A title, a column or a legend that names a quantile, a window, a rate or a mean agrees with its query, and so does the unit.
func TestTitlesAgreeWithQueries(t *testing.T) {
	found := map[string]int{}
	agree := func(what string, s shown, text, query bool) {
		t.Helper()
		if text != query {
			t.Errorf("%s: %s in the text: %t, in the query: %t\n%s", s, what, text, query, s.expr)
		}
		if text {
			found[what]++
		}
	}
	for _, s := range queries(t) {
		text := s.text()
		var named, computed []string
		for _, match := range percentile.FindAllStringSubmatch(text, -1) {
			named = append(named, match[1])
		}
		for _, match := range quantile.FindAllStringSubmatch(s.expr, -1) {
			q, err := strconv.ParseFloat(match[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			computed = append(computed, strconv.FormatFloat(100*q, 'g', 4, 64))
		}
		if len(named)+len(computed) > 0 {
			found["quantile"]++
			for _, list := range [][]string{named, computed} {
				if len(list) == 0 || list[0] != named[0] {
					t.Errorf("%s: quantiles %v in the text, %v in the query", s, named, computed)
					break
				}
			}
		}
		if match := window.FindStringSubmatch(text); match != nil {
			agree("window", s, true, strings.Contains(s.expr, "["+match[1]+"m"))
		}
		perMinute := strings.Contains(strings.ToLower(text), "per minute") || strings.Contains(text, "/min")
		ratio := strings.Contains(s.expr, "/ (60 * ")
		agree("per minute", s, perMinute, strings.Contains(s.expr, "60 * ") && !ratio)
		mean := averages.MatchString(text)
		agree("mean", s, mean, strings.Contains(s.expr, "_sum{") && strings.Contains(s.expr, "_count{"))
		agree("date", s, strings.HasPrefix(s.unit, "dateTime"), strings.HasPrefix(s.expr, "1000 * "))
	}
	t.Log(found)
	for _, what := range []string{"quantile", "window", "per minute", "mean"} {
		if found[what] < 4 {
			t.Errorf("%d texts name a %s", found[what], what)
		}
	}
}
