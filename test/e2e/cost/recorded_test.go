package cost_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// evaluationInterval is the evaluation interval of rule groups that do not set one.
const evaluationInterval = scrapeInterval

func intervalOf(t *testing.T, g alerts.Group) time.Duration {
	t.Helper()
	if g.Interval == "" {
		return evaluationInterval
	}
	d, err := model.ParseDuration(g.Interval)
	if err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	return time.Duration(d)
}

// withRecorded adds the series of all recording rules, as if they had always been evaluated.
func withRecorded(t *testing.T, f *fleet, groups []alerts.Group) *fleet {
	t.Helper()
	engine := newEngine()
	one := f.resized(1)
	for range 3 { // recordings of recordings
		for _, g := range groups {
			for _, r := range g.Rules {
				if r.Record == "" || len(one.series[r.Record]) > 0 {
					continue
				}
				for _, s := range vector(t, engine, one, r.Expr) {
					set := labels.NewBuilder(s.Metric).Set(model.MetricNameLabel, r.Record)
					for name, value := range r.Labels {
						set.Set(name, value)
					}
					one.add(kept{
						shape: shape{labels: set.Del(clusterLabel).Labels(), value: s.F}, interval: intervalOf(t, g),
						once: s.Metric.Get(clusterLabel) == "",
					})
				}
			}
		}
	}
	return one.resized(len(f.clusters))
}

func vector(t *testing.T, engine *promql.Engine, f *fleet, expr string) promql.Vector {
	t.Helper()
	q, err := engine.NewInstantQuery(t.Context(), f, nil, expr, now)
	if err != nil {
		t.Fatalf("%v\n%s", err, expr)
	}
	defer q.Close()
	_, result := run(t.Context(), q)
	v, err := result.Vector()
	if err != nil {
		t.Fatalf("%v\n%s", err, expr)
	}
	return slices.Clone(v)
}

// sortBySamples sorts by samples, in descending order.
func sortBySamples[T any](list []T, samples func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(samples(b), samples(a)) })
}
