package e2e_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// metricName is the label that holds the name.
const metricName = "__name__"

// targetLabels are on every series that is scraped, namespace and pod in Kubernetes only.
var targetLabels = []string{"cluster", "job", "instance", "namespace", "pod"}

// foreign are the series of other programs that queries may use, with their labels except for target labels.
var foreign = map[string][]string{
	"up":                               {},
	"scrape_duration_seconds":          {},
	"scrape_samples_scraped":           {},
	"process_cpu_seconds_total":        {},
	"process_resident_memory_bytes":    {},
	"process_start_time_seconds":       {},
	"go_gc_gomemlimit_bytes":           {},
	"go_goroutines":                    {},
	"go_memstats_heap_alloc_bytes":     {},
	"workqueue_queue_duration_seconds": {"name"}, // as a native histogram
	"ALERTS_FOR_STATE":                 {"alertname", "severity", "name", "informer_type", "watch_namespace", "namespace", "controller", "lock", "lease_namespace", "lease", "client", "group", "resource"},
	"ALERTS":                           {"alertname", "alertstate", "severity", "name", "informer_type", "watch_namespace", "namespace", "controller", "lock", "lease_namespace", "lease", "client", "group", "resource", "finalizer", "reason", "mutes"},
}

// Functions that accept a counter, and those that are meaningful only for a counter.
var (
	counterFunctions = []string{"rate", "irate", "increase", "resets", "changes", "last_over_time", "present_over_time", "absent", "absent_over_time"}
	counterOnly      = []string{"rate", "irate", "increase", "resets"}
)

// series is what a selector reads.
type series struct {
	labels  []string
	counter bool
	// metric is the catalog's. Its name is empty for series of other programs and of recording rules.
	metric catalog.Metric
	bucket bool
}

// lookUp returns the series with a name. A histogram's or summary's own name is not a series.
func lookUp(name string, recorded map[string][]string) (series, bool) {
	if own, ok := recorded[name]; ok {
		return series{labels: own}, true
	}
	if own, ok := foreign[name]; ok {
		return series{labels: slices.Concat(targetLabels, own), counter: strings.HasSuffix(name, "_total")}, true
	}
	if m, ok := catalog.ByName(name); ok && m.Type != catalog.TypeHistogram && m.Type != catalog.TypeSummary {
		return series{labels: slices.Concat(targetLabels, m.LabelNames()), counter: m.Type == catalog.TypeCounter, metric: m}, true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		m, ok := catalog.ByName(strings.TrimSuffix(name, suffix))
		if !ok || !strings.HasSuffix(name, suffix) || m.Type != catalog.TypeHistogram && (m.Type != catalog.TypeSummary || suffix == "_bucket") {
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

// namesOf returns the metric names that a selector reads. Several are written as {__name__=~"a|b"}, as variables of
// dashboards are.
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

// checkMatcher: a matcher must be able to match a value, and a negative matcher must be able to exclude one.
func (s series) checkMatcher(name string, m *labels.Matcher) error {
	if !slices.Contains(s.labels, m.Name) {
		return fmt.Errorf("%s has no label %s", name, m.Name)
	}
	values := s.values(m.Name)
	if values == nil {
		return nil // an open label
	}
	positive := m
	if m.Type == labels.MatchNotEqual || m.Type == labels.MatchNotRegexp {
		positive, _ = m.Inverse()
	}
	if !slices.ContainsFunc(values, positive.Matches) {
		return fmt.Errorf("%s: no value of %s matches %s", name, m.Name, positive)
	}
	return nil
}

// values returns the values of a label with a closed set of values, nil for other labels.
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

// checkUse: counters need a rate or an increase, or are compared with themselves at another time, or with the count of their histogram; gauges must not have one,
// and buckets are cumulative.
func (s series) checkUse(name string, v *parser.VectorSelector, path []parser.Node) error {
	call := directCall(path)
	switch {
	case s.counter && name != catalog.InformerTransformConflicts.Name && // a second transform stays for as long as its process
		!slices.Contains(counterFunctions, call) && !comparedWithItself(path) && !isShare(path) && !onlyPresent(v, path):
		return fmt.Errorf("%s counts up and is not directly inside rate or increase", name)
	case !s.counter && slices.Contains(counterOnly, call):
		return fmt.Errorf("%s of %s, which is not a counter", call, name)
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

// comparedWithItself reports whether a selector is part of x unless y or of x - y, where y is x at an earlier time.
func comparedWithItself(path []parser.Node) bool {
	return slices.ContainsFunc(path, func(n parser.Node) bool {
		b, ok := n.(*parser.BinaryExpr)
		if !ok || b.Op != parser.LUNLESS && b.Op != parser.SUB {
			return false
		}
		now, earlier := unparenthesized(b.LHS).String(), unparenthesized(b.RHS).String()
		return earlier != now && offsets.ReplaceAllString(earlier, "") == now
	})
}

// isShare reports whether a selector is part of a comparison of a bucket with the count of its histogram: the share of all observations of
// a process.
func isShare(path []parser.Node) bool {
	return slices.ContainsFunc(path, func(n parser.Node) bool {
		b, ok := n.(*parser.BinaryExpr)
		if !ok || !b.Op.IsComparisonOperator() {
			return false
		}
		buckets, counts := seriesIn(b.LHS), seriesIn(b.RHS)
		if len(buckets) != 1 || len(counts) != 1 {
			return false
		}
		histogram, ok := strings.CutSuffix(buckets[0], "_bucket")
		return ok && counts[0] == histogram+"_count"
	})
}

func seriesIn(e parser.Expr) (names []string) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, v.Name)
		}
		return nil
	})
	return names
}

var offsets = regexp.MustCompile(` offset [0-9a-z]+`)

func unparenthesized(e parser.Expr) parser.Expr {
	for {
		p, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// onlyPresent reports whether a query reads only that a series exists, not its value: it is grouped, or on the right of "and" or "unless".
func onlyPresent(v *parser.VectorSelector, path []parser.Node) bool {
	child := parser.Node(v)
	for _, n := range slices.Backward(path) {
		switch parent := n.(type) {
		case *parser.AggregateExpr:
			return parent.Op == parser.GROUP
		case *parser.BinaryExpr:
			if (parent.Op == parser.LAND || parent.Op == parser.LUNLESS) && parser.Node(parent.RHS) == child {
				return true
			}
			if !parent.Op.IsSetOperator() {
				return false
			}
		case *parser.ParenExpr:
		default:
			return false
		}
		child = n
	}
	return false
}

// directCall returns the function that is called directly on the selector, "" if there is none.
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

// sumOverBuckets returns the aggregation that drops the label le before a histogram function uses it.
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
