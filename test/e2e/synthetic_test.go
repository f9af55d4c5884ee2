package e2e_test

import (
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// database holds series by the names of their metrics.
type database map[string][]storage.Series

func (m database) add(set labels.Labels, points []promql.FPoint) {
	name := set.Get(metricName)
	m[name] = append(m[name], promql.NewStorageSeries(promql.Series{Metric: set, Floats: points}))
}

// Querier implements storage.Queryable. The engine skips samples out of its range itself.
func (m database) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		set := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
		for name, list := range m {
			if !slices.ContainsFunc(matchers, func(by *labels.Matcher) bool { return by.Name == metricName && !by.Matches(name) }) {
				set.add(list, matchers)
			}
		}
		return set
	}}, nil
}

type seriesSet struct {
	storage.SeriesSet
	list []storage.Series
	next int
}

func (s *seriesSet) add(list []storage.Series, matchers []*labels.Matcher) {
	for _, one := range list {
		set := one.Labels()
		if !slices.ContainsFunc(matchers, func(by *labels.Matcher) bool { return !by.Matches(set.Get(by.Name)) }) {
			s.list = append(s.list, one)
		}
	}
}

func (s *seriesSet) Next() bool         { s.next++; return s.next <= len(s.list) }
func (s *seriesSet) At() storage.Series { return s.list[s.next-1] }

// now is the time of all evaluations and of the last samples.
var now = time.Unix(1_800_000_000, 0)

// sampled are the times of samples: four within the shortest range in use, and one for expressions that look back by an
// hour.
var sampled = []time.Duration{-time.Hour, -45 * time.Second, -30 * time.Second, -15 * time.Second, 0}

// cluster returns the series of a cluster in which programs report each metric of the catalog, of the recording rules and of
// others. In the cluster eu, no series is missing; elsewhere a third is, so that matching with another cluster changes a
// result. change is applied to the labels last.
func cluster(t *testing.T, name string, change func(*labels.Builder)) database {
	t.Helper()
	m := database{}
	write := func(metric string, own []catalog.Label, counter bool, buckets []float64) {
		for _, set := range combinations(own) {
			set["cluster"] = name
			h := fnv.New32a()
			_, _ = h.Write([]byte(metric + labels.FromMap(set).String())) // never fails
			if name != "eu" && h.Sum32()%3 == 0 {
				continue
			}
			value := 1 + float64(h.Sum32()%1000)/1000
			add := func(suffix, le string, value float64) {
				b := labels.NewBuilder(labels.FromMap(set)).Set(metricName, metric+suffix).Set(labels.BucketLabel, le)
				if change != nil {
					change(b)
				}
				m.add(b.Labels(), points(value, counter))
			}
			if buckets == nil {
				add("", "", value)
				continue
			}
			for i, upper := range buckets {
				add("_bucket", strconv.FormatFloat(upper, 'f', -1, 64), value*float64(i+1))
			}
			all := value * float64(len(buckets)+1)
			add("_bucket", "+Inf", all)
			add("_count", "", all)
			add("_sum", "", all)
		}
	}
	// TestNamespaceOfTheTarget adds the labels that only some targets have.
	target := open(minus(targetLabels, []string{"cluster", "namespace", "pod"}))
	for _, metric := range catalog.All() {
		own, counter := slices.Concat(target, metric.Labels), metric.Type != catalog.TypeGauge
		if metric.Type == catalog.TypeSummary {
			write(metric.Name+"_count", own, counter, nil)
			write(metric.Name+"_sum", own, counter, nil)
			continue
		}
		write(metric.Name, own, counter, metric.Buckets)
	}
	for metric, names := range foreign {
		write(metric, slices.Concat(target, open(names)), strings.HasSuffix(metric, "_total"), nil)
	}
	for metric, names := range recordedSeries(t) {
		write(metric, open(minus(names, []string{"cluster", "namespace", "pod"})), false, nil) // a recording has the labels of its expression only
	}
	return m
}

func open(names []string) (list []catalog.Label) {
	for _, name := range names {
		list = append(list, catalog.Label{Name: name})
	}
	return list
}

// examples are the values of open labels that queries select.
var examples = map[string][]string{
	"informer_type": {"pods", "namespaces"},
	"name":          {"shop", "informer-exporter"},
	"code":          {"200", "500", "429"},
	"job":           {"shop", "informer-exporter"},
	"alertname":     {"InformerNotSynced", "ControllerQueueSlow"},
	"alertstate":    {"firing", "pending"},
	"severity":      {"page", "ticket"},
	"lease":         {"shop", "kube-controller-manager"},
	"verb":          {"WATCH", "LIST"},
}

// combinations returns label sets that differ from the first in one or two labels. Series that differ in only one label
// detect vector matching that omits this label, on either side of an operator.
func combinations(all []catalog.Label) []map[string]string {
	first := map[string]string{}
	others := make([][]string, len(all))
	for i, l := range all {
		values := l.Values
		if values == nil {
			values = examples[l.Name]
		}
		if values == nil {
			values = []string{"a", "b"}
		}
		first[l.Name], others[i] = values[0], values[1:]
	}
	list := []map[string]string{first}
	for i, l := range all {
		for _, value := range others[i] {
			one := maps.Clone(first)
			one[l.Name] = value
			list = append(list, one)
			for j := range i {
				for _, second := range others[j] {
					two := maps.Clone(one)
					two[all[j].Name] = second
					list = append(list, two)
				}
			}
		}
	}
	return list
}

// points returns the samples of a gauge, or of a counter that has risen by value each second.
func points(value float64, counter bool) (list []promql.FPoint) {
	for _, at := range sampled {
		p := promql.FPoint{T: now.Add(at).UnixMilli(), F: value}
		if counter {
			p.F *= (2*time.Hour + at).Seconds()
		}
		list = append(list, p)
	}
	return list
}

// both returns the series of two clusters in one Prometheus.
func both(a, b database) database {
	sum := database{}
	for _, m := range []database{a, b} {
		for name, list := range m {
			sum[name] = append(sum[name], list...)
		}
	}
	return sum
}

// result maps the labels of the result's series to their values.
type result map[string]float64

// ask evaluates an expression as Prometheus does. relabel changes the labels of the result, unless it is nil.
func (m database) ask(ctx context.Context, engine *promql.Engine, expr string, relabel func(*labels.Builder)) (result, []labels.Labels, error) {
	q, err := engine.NewInstantQuery(ctx, m, nil, expr, now)
	if err != nil {
		return nil, nil, err
	}
	defer q.Close()
	vector, err := q.Exec(ctx).Vector()
	if err != nil {
		return nil, nil, err
	}
	r := result{}
	var sets []labels.Labels
	for _, s := range vector {
		b := labels.NewBuilder(s.Metric).Del(metricName)
		if relabel != nil {
			relabel(b)
		}
		r[b.Labels().String()] = s.F
		sets = append(sets, s.Metric)
	}
	return r, sets, nil
}
