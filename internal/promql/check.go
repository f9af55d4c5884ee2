package promql

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// targetLabels are those that Prometheus adds to every scraped series.
var targetLabels = []string{"cluster", "job", "instance"}

// Foreign are the series of others that queries may use, with the labels that they have besides those of their target.
var Foreign = map[string][]string{
	"up":                            {},
	"scrape_duration_seconds":       {},
	"scrape_samples_scraped":        {},
	"process_cpu_seconds_total":     {},
	"process_resident_memory_bytes": {},
	"process_start_time_seconds":    {},
	"go_gc_gomemlimit_bytes":        {},
	"go_goroutines":                 {},
	"ALERTS":                        {"alertname", "alertstate", "severity", "name", "informer_type", "watch_namespace", "namespace"},
}

var (
	rates  = []string{"rate", "irate", "increase"}
	ranged = append([]string{
		"changes", "delta", "deriv", "last_over_time", "max_over_time", "min_over_time", "present_over_time", "resets", "sum_over_time",
	}, rates...)
)

// Check compares a query with the catalog and returns everything that is wrong with it. recorded holds the labels of
// series that recording rules make, by their names.
func Check(expr string, recorded map[string][]string) error {
	q, err := Scan(expr)
	if err != nil {
		return err
	}
	var errs []error
	known := slices.Clone(targetLabels)
	for _, s := range q.Series {
		labels, err := s.check(recorded)
		known = append(known, labels...)
		errs = append(errs, err)
	}
	for _, l := range q.Grouping {
		if !slices.Contains(known, l) {
			errs = append(errs, fmt.Errorf("no series of the query has the label %s", l))
		}
	}
	return errors.Join(errs...)
}

// check returns the labels of the series besides those of its target.
func (s Series) check(recorded map[string][]string) ([]string, error) {
	if s.Range != "" && !slices.Contains(ranged, s.Func) {
		return nil, fmt.Errorf("%s has a range that no function takes", s.Name)
	}
	if s.Range == "" && slices.Contains(ranged, s.Func) {
		return nil, fmt.Errorf("%s has no range for %s", s.Name, s.Func)
	}
	for _, foreign := range []map[string][]string{recorded, Foreign} {
		if labels, ok := foreign[s.Name]; ok {
			return labels, s.checkMatchers(labels, nil)
		}
	}
	m, ok := metric(s.Name)
	if !ok {
		return nil, fmt.Errorf("%q is not in the catalog", s.Name)
	}
	labels := m.LabelNames()
	if strings.HasSuffix(s.Name, "_bucket") {
		labels = append(labels, "le")
	}
	rated := slices.Contains(rates, s.Func)
	switch {
	case m.Type == catalog.TypeGauge && rated:
		return labels, fmt.Errorf("%s of the gauge %s", s.Func, s.Name)
	case m.Type != catalog.TypeGauge && !rated && !slices.Contains([]string{"absent", "present_over_time", "resets", "changes"}, s.Func):
		return labels, fmt.Errorf("%s counts up and is used without rate or increase", s.Name)
	}
	return labels, s.checkMatchers(labels, m.Labels)
}

func (s Series) checkMatchers(labels []string, described []catalog.Label) error {
	for _, m := range s.Matchers {
		if !slices.Contains(labels, m.Label) && !slices.Contains(targetLabels, m.Label) {
			return fmt.Errorf("%s has no label %s", s.Name, m.Label)
		}
		i := slices.IndexFunc(described, func(l catalog.Label) bool { return l.Name == m.Label })
		if i < 0 || described[i].Values == nil || strings.HasSuffix(m.Op, "~") {
			continue
		}
		if !slices.Contains(described[i].Values, m.Value) {
			return fmt.Errorf("%s: %s is never %q", s.Name, m.Label, m.Value)
		}
	}
	return nil
}

// metric finds the metric that a series belongs to. A histogram's name alone is no series.
func metric(series string) (catalog.Metric, bool) {
	if m, ok := catalog.ByName(series); ok {
		return m, m.Type != catalog.TypeHistogram
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if m, ok := catalog.ByName(strings.TrimSuffix(series, suffix)); ok && strings.HasSuffix(series, suffix) {
			return m, m.Type == catalog.TypeHistogram
		}
	}
	return catalog.Metric{}, false
}

// Metrics returns the names of the catalog's metrics that a query reads.
func Metrics(expr string) []string {
	q, _ := Scan(expr)
	var names []string
	for _, s := range q.Series {
		if m, ok := metric(s.Name); ok {
			names = append(names, m.Name)
		}
	}
	return names
}
