package cost_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// clusterLabel is the label that Prometheus adds to the series of each cluster.
const clusterLabel = "cluster"

// scrapeInterval is the interval of samples of scraped series.
const scrapeInterval = 15 * time.Second

// now is the time of all queries.
var now = time.Unix(1_800_000_000, 0)

// started is when all series began: long before the beginning of every window.
var started = now.Add(-30 * 24 * time.Hour)

// fleet is a storage with the same series in each of many clusters. Samples are computed when they are read.
type fleet struct {
	clusters []string
	series   map[string][]kept // by the name of the metric
}

// kept is a shape with the interval of its samples.
type kept struct {
	shape
	interval time.Duration
	// once is set for a series that the whole fleet has once.
	once bool
}

func newFleet(clusters int, shapes []shape) *fleet {
	f := &fleet{series: map[string][]kept{}}
	for n := range clusters {
		f.clusters = append(f.clusters, fmt.Sprintf("cluster-%03d", n))
	}
	for _, s := range shapes {
		f.add(kept{shape: s, interval: scrapeInterval})
	}
	return f
}

func (f *fleet) add(k kept) {
	name := k.labels.Get(model.MetricNameLabel)
	f.series[name] = append(f.series[name], k)
}

// resized returns a fleet with the same series in a different number of clusters.
func (f *fleet) resized(clusters int) *fleet {
	other := newFleet(clusters, nil)
	other.series = f.series
	return other
}

// count returns the number of series with an accepted name.
func (f *fleet) count(accepts func(string) bool) int {
	n := 0
	for name, list := range f.series {
		for _, k := range list {
			switch {
			case !accepts(name):
			case k.once:
				n++
			default:
				n += len(f.clusters)
			}
		}
	}
	return n
}

// Querier implements storage.Queryable.
func (f *fleet) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{f, mint, maxt}, nil
}

type querier struct {
	fleet      *fleet
	mint, maxt int64
}

func (q *querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (q *querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (q *querier) Close() error { return nil }

// Select returns the series of every cluster that match.
func (q *querier) Select(_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	mint, maxt := q.mint, q.maxt
	if hints != nil {
		mint, maxt = hints.Start, hints.End
	}
	var names, own, clusters []*labels.Matcher
	for _, m := range matchers {
		switch m.Name {
		case model.MetricNameLabel:
			names = append(names, m)
		case clusterLabel:
			clusters = append(clusters, m)
		default:
			own = append(own, m)
		}
	}
	set := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
	matching := slices.DeleteFunc(slices.Clone(q.fleet.clusters), func(name string) bool { return !matchAll(clusters, func(string) string { return name }) })
	for name, list := range q.fleet.series {
		if !matchAll(names, func(string) string { return name }) {
			continue
		}
		for _, k := range list {
			switch {
			case !matchAll(own, k.labels.Get):
			case k.once:
				set.list = append(set.list, &series{k, k.labels, mint, maxt})
			default:
				for _, cluster := range matching {
					set.list = append(set.list, &series{k, labels.NewBuilder(k.labels).Set(clusterLabel, cluster).Labels(), mint, maxt})
				}
			}
		}
	}
	return set
}

func matchAll(matchers []*labels.Matcher, value func(string) string) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(value(m.Name)) })
}

type seriesSet struct {
	storage.SeriesSet
	list []*series
	next int
}

func (s *seriesSet) Next() bool         { s.next++; return s.next <= len(s.list) }
func (s *seriesSet) At() storage.Series { return s.list[s.next-1] }

// series is a series of one cluster.
type series struct {
	kept
	set        labels.Labels
	mint, maxt int64
}

func (s *series) Labels() labels.Labels { return s.set }

func (s *series) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	step := s.interval.Milliseconds()
	return storage.NewListSeriesIterator(&samples{
		series: s, step: step, first: (max(s.mint, started.UnixMilli()) + step - 1) / step * step,
	})
}

// samples are the samples of a series at multiples of its interval. A counter rises by one from sample to sample.
type samples struct {
	series      *series
	first, step int64
	at          sample // the last one
}

func (s *samples) Len() int { return max(0, int((s.series.maxt-s.first)/s.step)+1) }

// Get returns a sample that is valid until the next call.
func (s *samples) Get(i int) chunks.Sample {
	s.at = sample{t: s.first + int64(i)*s.step, value: s.series.value}
	if s.series.counter {
		s.at.value += float64((s.at.t - started.UnixMilli()) / s.step)
	}
	return &s.at
}

type sample struct {
	t     int64
	value float64
}

func (s *sample) T() int64                      { return s.t }
func (s *sample) ST() int64                     { return 0 }
func (s *sample) F() float64                    { return s.value }
func (s *sample) H() *histogram.Histogram       { return nil }
func (s *sample) FH() *histogram.FloatHistogram { return nil }
func (s *sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s *sample) Copy() chunks.Sample           { c := *s; return &c }

// newEngine returns Prometheus' engine with its default limits.
func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: 5 * time.Minute, EnableAtModifier: true, EnableNegativeOffset: true,
	})
}

// cost is what queries read.
type cost struct {
	queries int
	// samples is the number of samples that the queries consider: totalQueryableSamples of the query statistics.
	samples int64
	// read is the number of samples that are read from the storage: samples that several steps of a range query share count once.
	read int64
	// peak is the highest number of samples in memory during a query.
	peak int
}

func (c *cost) add(other cost) {
	c.queries += other.queries
	c.samples += other.samples
	c.read += other.read
	c.peak = max(c.peak, other.peak)
}

// run runs a query to its end and returns its cost and result.
func run(ctx context.Context, q promql.Query) (cost, *promql.Result) {
	r := q.Exec(ctx)
	s := q.Stats().Samples
	return cost{1, s.TotalSamples, s.SamplesRead, s.PeakSamples}, r
}
