package e2e_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	apiv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// alone has the data of a Prometheus server that scrapes only some jobs.
type alone struct {
	database
	at     time.Time
	engine *promql.Engine
}

// only returns the last samples of the jobs that match a pattern, and the results of the recording rules for these samples
// alone.
func only(ctx context.Context, c *chain.Chain, engine *promql.Engine, jobs string) (alone, error) {
	a := alone{database: database{}, at: time.Now(), engine: engine}
	client, err := api.NewClient(api.Config{Address: c.Prometheus.URL})
	if err != nil {
		return a, err
	}
	result, _, _, err := apiv1.NewAPI(client).Query(ctx, fmt.Sprintf(`{job=~%q}[15m]`, jobs), a.at)
	if err != nil {
		return a, err
	}
	matrix, ok := result.(model.Matrix)
	if !ok || len(matrix) == 0 {
		return a, fmt.Errorf("no samples of the jobs %s: %v", jobs, result)
	}
	for _, s := range matrix {
		b := labels.NewBuilder(labels.EmptyLabels())
		for name, value := range s.Metric {
			b.Set(string(name), string(value))
		}
		points := make([]promql.FPoint, len(s.Values))
		for i, v := range s.Values {
			points[i] = promql.FPoint{T: int64(v.Timestamp), F: float64(v.Value)}
		}
		a.add(b.Labels(), points)
	}
	return a, a.record(ctx)
}

// record adds the results of the recording rules, as of now.
func (a alone) record(ctx context.Context) error {
	for range 3 { // recordings of recordings
		for _, g := range alerts.Rules(alerts.Config{}) {
			for _, r := range g.Rules {
				if r.Record == "" || len(a.database[r.Record]) > 0 {
					continue
				}
				vector, err := a.query(ctx, r.Expr)
				if err != nil {
					return fmt.Errorf("%s: %w", r.Record, err)
				}
				for _, s := range vector {
					b := labels.NewBuilder(s.Metric).Set(metricName, r.Record)
					for name, value := range r.Labels {
						b.Set(name, value)
					}
					a.add(b.Labels(), []promql.FPoint{{T: s.T, F: s.F}})
				}
			}
		}
	}
	return nil
}

func (a alone) query(ctx context.Context, expr string) (promql.Vector, error) {
	q, err := a.engine.NewInstantQuery(ctx, a.database, nil, expr, a.at)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(ctx)
	if s, err := result.Scalar(); err == nil {
		return promql.Vector{{F: s.V}}, nil
	}
	vector, err := result.Vector()
	return slices.Clone(vector), err
}

// has reports whether a query returns a number for these jobs. A query that returns a number without any series, such as one
// with or vector(0), does not count.
func (a alone) has(ctx context.Context, q query) (bool, error) {
	number := func(s promql.Sample) bool { return !math.IsNaN(s.F) }
	vector, err := a.query(ctx, q.Plain())
	if err != nil || !slices.ContainsFunc(vector, number) {
		return false, err
	}
	empty := alone{database: database{}, at: a.at, engine: a.engine}
	vector, err = empty.query(ctx, q.Plain())
	return !slices.ContainsFunc(vector, number), err
}

// TestAloneKnowsNothingElse verifies that a query about another program returns nothing.
func TestAloneKnowsNothingElse(t *testing.T) {
	c := theChain(t)
	a, err := only(t.Context(), c, newEngine(t), undecorated)
	if err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]bool{
		`sum(up)`: true, `count(k8s_informer_synced)`: false, `count(up) or vector(0)`: false, `vector(0)`: false,
	} {
		q := query{Expr: expr, all: boardModel{}.all()}
		if got, err := a.has(t.Context(), q); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", expr, got, err, want)
		}
	}
}
