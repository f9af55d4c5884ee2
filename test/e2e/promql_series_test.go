package e2e_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// metricName is the label that holds the name.
const metricName = "__name__"

// targetLabels are on every series that is scraped.
var targetLabels = []string{"cluster", "job", "instance"}

// foreign are the series of others that queries may use, with the labels that they have besides those of their target.
var foreign = map[string][]string{
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

// Functions that take a counter, and those of them that mean something only for a counter.
var (
	counterFunctions = []string{"rate", "irate", "increase", "resets", "changes", "present_over_time", "absent", "absent_over_time"}
	counterOnly      = []string{"rate", "irate", "increase", "resets"}
)

// series is what a selector reads.
type series struct {
	labels  []string
	counter bool
	// metric is the catalog's, with an empty name for the series of others and of recording rules.
	metric catalog.Metric
	bucket bool
}

// lookUp finds what a name stands for. A histogram's own name is no series.
func lookUp(name string, recorded map[string][]string) (series, bool) {
	if own, ok := recorded[name]; ok {
		return series{labels: own}, true
	}
	if own, ok := foreign[name]; ok {
		return series{labels: slices.Concat(targetLabels, own), counter: strings.HasSuffix(name, "_total")}, true
	}
	if m, ok := catalog.ByName(name); ok && m.Type != catalog.TypeHistogram {
		return series{labels: slices.Concat(targetLabels, m.LabelNames()), counter: m.Type == catalog.TypeCounter, metric: m}, true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		m, ok := catalog.ByName(strings.TrimSuffix(name, suffix))
		if !ok || !strings.HasSuffix(name, suffix) || m.Type != catalog.TypeHistogram {
			continue
		}
		s := series{labels: slices.Concat(targetLabels, m.LabelNames()), counter: true, metric: m, bucket: suffix == "_bucket"}
		if s.bucket {
			s.labels = append(s.labels, labels.BucketLabel)
		}
		return s, true
	}
	return series{}, false
}

// namesOf returns the names of what a selector reads. Several are written as {__name__=~"a|b"}, as variables of dashboards
// are.
func namesOf(v *parser.VectorSelector) []string {
	for _, m := range v.LabelMatchers {
		if v.Name == "" && m.Name == metricName && m.Type == labels.MatchRegexp {
			return strings.Split(m.Value, "|")
		}
	}
	return []string{v.Name}
}

// checkSelector returns the problems of a selector, given the nodes above it.
func checkSelector(v *parser.VectorSelector, path []parser.Node, recorded map[string][]string) error {
	var errs []error
	for _, name := range namesOf(v) {
		s, ok := lookUp(name, recorded)
		if !ok {
			errs = append(errs, fmt.Errorf("%q is neither in the catalog nor recorded by a rule", name))
			continue
		}
		errs = append(errs, s.checkUse(name, v, path))
		for _, m := range v.LabelMatchers {
			if m.Name != metricName {
				errs = append(errs, s.checkMatcher(name, m))
			}
		}
	}
	return errors.Join(errs...)
}

// checkMatcher: a matcher must be able to match something, and one that excludes must have something to exclude.
func (s series) checkMatcher(name string, m *labels.Matcher) error {
	if !slices.Contains(s.labels, m.Name) {
		return fmt.Errorf("%s has no label %s", name, m.Name)
	}
	values := s.values(m.Name)
	if values == nil {
		return nil // a program or a cluster gives them
	}
	positive := m
	if m.Type == labels.MatchNotEqual || m.Type == labels.MatchNotRegexp {
		positive, _ = m.Inverse()
	}
	if !slices.ContainsFunc(values, positive.Matches) {
		return fmt.Errorf("%s: %s is never such that %s", name, m.Name, positive)
	}
	return nil
}

// values is the closed set of a label's values, nil if there is none.
func (s series) values(label string) []string {
	if label == labels.BucketLabel && s.bucket {
		values := []string{"+Inf"}
		for _, b := range s.metric.Buckets { // Prometheus 3 writes 5 as 5.0, others write 5
			text := strconv.FormatFloat(b, 'f', -1, 64)
			values = append(values, text, text+".0")
		}
		return values
	}
	for _, l := range s.metric.Labels {
		if l.Name == label {
			return l.Values
		}
	}
	return nil
}

// checkUse: a counter says something only about its change, a gauge nothing about its rate, and buckets are cumulative.
func (s series) checkUse(name string, v *parser.VectorSelector, path []parser.Node) error {
	call := directCall(path)
	switch {
	case s.counter && !slices.Contains(counterFunctions, call):
		return fmt.Errorf("%s counts up and is not directly inside rate or increase", name)
	case !s.counter && slices.Contains(counterOnly, call):
		return fmt.Errorf("%s of %s, which is no counter", call, name)
	}
	if s.bucket && !hasMatcher(v, labels.BucketLabel) {
		if over := sumOverBuckets(path); over != nil {
			return fmt.Errorf("%s counts an event in every bucket above it, and %s adds them up", name, over.Op)
		}
	}
	return nil
}

func hasMatcher(v *parser.VectorSelector, label string) bool {
	return slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == label })
}

// directCall is the function that takes the selector as it is, "" if there is something between.
func directCall(path []parser.Node) string {
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr, *parser.ParenExpr:
		case *parser.Call:
			return n.Func.Name
		default:
			return ""
		}
	}
	return ""
}

// sumOverBuckets is the aggregation that loses the label le before a histogram function has used it.
func sumOverBuckets(path []parser.Node) *parser.AggregateExpr {
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *parser.Call:
			if strings.HasPrefix(n.Func.Name, "histogram_") {
				return nil
			}
		case *parser.AggregateExpr:
			if slices.Contains(n.Grouping, labels.BucketLabel) == n.Without {
				return n
			}
		}
	}
	return nil
}
