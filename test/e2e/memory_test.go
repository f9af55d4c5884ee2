package e2e_test

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// memory is a storage of the series of one replay: those of the recording, and those that its rules append. Opening, writing and
// closing Prometheus' own storage takes longer than evaluating the rules.
type memory struct {
	names map[string][]*remembered
	all   map[uint64]*remembered // by the hash of the labels
}

// remembered is a series with its samples in order.
type remembered struct {
	labels labels.Labels
	points []promql.FPoint
}

// inMemory returns a storage with a recording. Queries do not look into the future, so that it may have samples of later steps.
func inMemory(r recording.Recording) *memory {
	m := &memory{names: map[string][]*remembered{}, all: map[uint64]*remembered{}}
	for _, s := range r.Series {
		to := m.series(s.Labels)
		for step, v := range s.Values {
			if !math.IsNaN(v) || value.IsStaleNaN(v) {
				to.points = append(to.points, promql.FPoint{T: r.Start.Add(time.Duration(step) * r.Interval).UnixMilli(), F: v})
			}
		}
	}
	return m
}

// series returns the series with some labels, and adds it if it is new.
func (m *memory) series(set labels.Labels) *remembered {
	hash := set.Hash()
	s := m.all[hash]
	if s == nil {
		s = &remembered{labels: set}
		m.all[hash] = s
		name := set.Get(model.MetricNameLabel)
		m.names[name] = append(m.names[name], s)
	}
	return s
}

// Querier implements storage.Queryable.
func (m *memory) Querier(mint, maxt int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		from, to := mint, maxt
		if hints != nil {
			from, to = hints.Start, hints.End
		}
		set := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
		for _, s := range m.named(matchers) {
			first := sort.Search(len(s.points), func(i int) bool { return s.points[i].T >= from })
			last := sort.Search(len(s.points), func(i int) bool { return s.points[i].T > to })
			if first < last && !slices.ContainsFunc(matchers, func(by *labels.Matcher) bool { return !by.Matches(s.labels.Get(by.Name)) }) {
				set.list = append(set.list, promql.NewStorageSeries(promql.Series{Metric: s.labels, Floats: s.points[first:last]}))
			}
		}
		return set
	}}, nil
}

// named returns the series with a name that matches.
func (m *memory) named(matchers []*labels.Matcher) (list []*remembered) {
	for _, by := range matchers {
		if by.Name == model.MetricNameLabel && by.Type == labels.MatchEqual {
			return m.names[by.Value]
		}
	}
	for _, of := range m.names {
		list = append(list, of...)
	}
	return list
}

// Appender implements storage.Appendable.
func (m *memory) Appender(context.Context) storage.Appender { return &appender{memory: m} }

// appender appends the results of rules, which have no histograms, exemplars or metadata.
type appender struct {
	storage.Appender
	memory *memory
}

// Append implements storage.Appender. As in Prometheus, a sample is not older than the last one, and has the same value at the same
// time.
func (a *appender) Append(_ storage.SeriesRef, set labels.Labels, t int64, v float64) (storage.SeriesRef, error) {
	s := a.memory.series(set)
	if n := len(s.points); n > 0 {
		switch last := s.points[n-1]; {
		case t < last.T:
			return 0, storage.ErrOutOfOrderSample
		case t == last.T && math.Float64bits(v) != math.Float64bits(last.F):
			return 0, storage.ErrDuplicateSampleForTimestamp
		case t == last.T:
			return 0, nil
		}
	}
	s.points = append(s.points, promql.FPoint{T: t, F: v})
	return 0, nil
}

func (a *appender) SetOptions(*storage.AppendOptions) {}
func (a *appender) Commit() error                     { return nil }

// replays is the engine of all replays, with the limits of Prometheus.
var replays = promql.NewEngine(promql.EngineOpts{
	MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: 5 * time.Minute, EnableAtModifier: true, EnableNegativeOffset: true,
	Parser: replayParser,
})

// replayParser parses the rules of all replays.
var replayParser = &parseOnce{Parser: parser.NewParser(parser.Options{})}

// parseOnce parses each expression once. Otherwise, each evaluation parses its expression, which takes as long as evaluating it.
type parseOnce struct {
	parser.Parser
	parsed sync.Map
}

// ParseExpr implements parser.Parser. The engine changes the expression that it gets, so this is a copy.
func (p *parseOnce) ParseExpr(text string) (parser.Expr, error) {
	if known, ok := p.parsed.Load(text); ok {
		return copied(known.(parser.Expr)), nil
	}
	expr, err := p.Parser.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	p.parsed.Store(text, copied(expr))
	return expr, nil
}

// copied returns a copy of an expression, with the same matchers.
func copied(expr parser.Expr) parser.Expr {
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		c := *e
		c.Expr = copied(e.Expr)
		if e.Param != nil {
			c.Param = copied(e.Param)
		}
		return &c
	case *parser.BinaryExpr:
		c := *e
		c.LHS, c.RHS = copied(e.LHS), copied(e.RHS)
		return &c
	case *parser.Call:
		c := *e
		c.Args = slices.Clone(e.Args)
		for i, arg := range c.Args {
			c.Args[i] = copied(arg)
		}
		return &c
	case *parser.MatrixSelector:
		c := *e
		c.VectorSelector = copied(e.VectorSelector)
		return &c
	case *parser.SubqueryExpr:
		c := *e
		c.Expr = copied(e.Expr)
		return &c
	case *parser.ParenExpr:
		c := *e
		c.Expr = copied(e.Expr)
		return &c
	case *parser.UnaryExpr:
		c := *e
		c.Expr = copied(e.Expr)
		return &c
	case *parser.VectorSelector:
		c := *e
		return &c
	}
	return expr // a literal
}
