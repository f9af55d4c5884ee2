// Package recording keeps what Prometheus would have scraped from programs under a fault, in a small, readable
// file: a test file of promtool without expectations, on which rules are evaluated.
package recording

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v2"
)

// FaultSeries is the name of a series that no program reports: 0 before the fault, 1 while it lasts, 2 after it. Its label
// row is the test that docs/faults.md names for the fault.
const FaultSeries = "recorded_fault"

// Values of FaultSeries.
const (
	Before = 0
	During = 1
	After  = 2
)

// Recording is what was scraped under one fault. Series have one value for each interval since the start.
type Recording struct {
	// Row is the test that docs/faults.md names for the fault.
	Row      string
	Start    time.Time
	Interval time.Duration
	Series   []Series
}

// Series is one time series. A value may be Missing or Stale.
type Series struct {
	Labels labels.Labels
	Values []float64
}

// file is the format of a recording on disk. promtool knows every field.
type file struct {
	EvaluationInterval string  `yaml:"evaluation_interval"`
	Tests              []group `yaml:"tests"`
}

type group struct {
	Name     string        `yaml:"name"`
	Interval string        `yaml:"interval"`
	Start    string        `yaml:"start_timestamp"`
	Series   []inputSeries `yaml:"input_series"`
}

type inputSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

// Marshal returns the content of a recording's file. The same recording gives the same bytes.
func (r Recording) Marshal() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Recorded by `make record`. See docs/faults.md.\n")
	fmt.Fprintf(&b, "evaluation_interval: %s\ntests:\n- name: %s\n", r.Interval, r.Row)
	fmt.Fprintf(&b, "  interval: %s\n  start_timestamp: %s\n  input_series:\n", r.Interval, r.Start.UTC().Format(time.RFC3339))
	for _, s := range r.sorted() {
		fmt.Fprintf(&b, "  - series: '%s'\n    values: '%s'\n", strings.ReplaceAll(s.name(), "'", "''"), format(s.Values))
	}
	return b.Bytes()
}

// Load returns the recording as the load command of promqltest.
func (r Recording) Load() string {
	var b strings.Builder
	fmt.Fprintf(&b, "load %s\n", r.Interval)
	for _, s := range r.Series {
		fmt.Fprintf(&b, "  %s %s\n", s.name(), format(s.Values))
	}
	return b.String()
}

func (r Recording) sorted() []Series {
	return slices.SortedFunc(slices.Values(r.Series), func(a, b Series) int { return strings.Compare(a.name(), b.name()) })
}

// name returns the series as written in queries.
func (s Series) name() string {
	return s.Labels.Get(model.MetricNameLabel) + labels.NewBuilder(s.Labels).Del(model.MetricNameLabel).Labels().String()
}

// Unmarshal reads the content of a recording's file.
func Unmarshal(content []byte) (Recording, error) {
	var f file
	if err := yaml.UnmarshalStrict(bytes.TrimSpace(content), &f); err != nil {
		return Recording{}, err
	}
	if len(f.Tests) != 1 {
		return Recording{}, fmt.Errorf("%d tests instead of one", len(f.Tests))
	}
	g := f.Tests[0]
	r := Recording{Row: g.Name}
	var err error
	if r.Interval, err = time.ParseDuration(g.Interval); err != nil {
		return Recording{}, fmt.Errorf("interval: %w", err)
	}
	if r.Start, err = time.Parse(time.RFC3339, g.Start); err != nil {
		return Recording{}, fmt.Errorf("start_timestamp: %w", err)
	}
	p := parser.NewParser(parser.Options{})
	for _, s := range g.Series {
		l, values, err := p.ParseSeriesDesc(s.Series + " " + s.Values)
		if err != nil {
			return Recording{}, fmt.Errorf("%s: %w", s.Series, err)
		}
		series := Series{Labels: l}
		for _, v := range values {
			if v.Omitted {
				v.Value = Missing
			}
			series.Values = append(series.Values, v.Value)
		}
		r.Series = append(r.Series, series)
	}
	return r, nil
}

// Phase returns the first interval with a value of FaultSeries, or -1.
func (r Recording) Phase(value float64) int {
	for _, s := range r.Series {
		if s.Labels.Get(model.MetricNameLabel) == FaultSeries {
			return slices.Index(s.Values, value)
		}
	}
	return -1
}

// Scraped reports whether any series has a sample in an interval.
func (r Recording) Scraped(step int) bool {
	return slices.ContainsFunc(r.Series, func(s Series) bool { return step < len(s.Values) && !math.IsNaN(s.Values[step]) })
}

// Len returns the number of intervals.
func (r Recording) Len() int {
	n := 0
	for _, s := range r.Series {
		n = max(n, len(s.Values))
	}
	return n
}
