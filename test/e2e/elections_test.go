package e2e_test

import (
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// TestElectionsOfOneName evaluates panels for a program without the library that is installed in two namespaces: client-go's metric
// has the same name for both elections.
func TestElectionsOfOneName(t *testing.T) {
	engine := newEngine(t)
	leads, standsBy, acquiresTwice := []float64{1, 1, 1, 1, 1}, []float64{0, 0, 0, 0, 0}, []float64{0, 0, 1, 0, 1}
	for _, c := range []struct {
		panel      string
		blue, test []float64
		want       float64
	}{
		{"No leader", leads, standsBy, 1},
		{"Split brain", leads, leads, 0},
		{"Leader transitions in 15 min", acquiresTwice, acquiresTwice, 2},
	} {
		m := database{}
		for namespace, values := range map[string][]float64{"blue": c.blue, "test": c.test} {
			var list []promql.FPoint
			for i, at := range sampled {
				list = append(list, promql.FPoint{T: now.Add(at).UnixMilli(), F: values[i]})
			}
			m.add(labels.FromStrings(metricName, "leader_election_master_status", "cluster", "eu", "namespace", namespace, "job", "shop", "instance", namespace, "name", "shop"), list)
		}
		found := false
		for _, d := range boards(t, dashboards.Config{}) {
			for _, q := range d.Queries {
				if d.UID != dashboards.LeaderElectionUID || q.Panel != c.panel {
					continue
				}
				found = true
				got, _, err := m.ask(t.Context(), engine, q.Plain(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != 1 || got["{}"] != c.want {
					t.Errorf("%s: %v, want %v", c.panel, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("there is no panel %s", c.panel)
		}
	}
}
