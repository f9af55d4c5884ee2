package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// rateInterval and rateSeconds replace Grafana's $__rate_interval and the seconds of a range.
const rateInterval, rateSeconds = "1m", "60"

// recordedSeries returns the labels of the series of recording rules, and reports their problems.
func recordedSeries(t *testing.T) map[string][]string {
	t.Helper()
	recorded, err := recordings()
	if err != nil {
		t.Error(err)
	}
	return recorded
}

var recordings = sync.OnceValues(func() (map[string][]string, error) {
	recorded := map[string][]string{}
	var errs []error
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Record == "" {
				continue
			}
			// A recording rule that keeps its last result reads itself in the second operand of or.
			first, second, carries := strings.Cut(r.Expr, "\nor\n")
			if carries = carries && strings.Contains(second, r.Record); !carries {
				first = r.Expr
			}
			own, err := checkQuery(first, recorded)
			recorded[r.Record] = union(own, slices.Collect(maps.Keys(r.Labels)))
			if err == nil && carries {
				_, err = checkQuery(r.Expr, recorded)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.Record, err))
			}
		}
	}
	return recorded, errors.Join(errs...)
})

var labelInTemplate = regexp.MustCompile(`\$labels\.([a-z_]+)`)

func TestRulesFitTheCatalog(t *testing.T) {
	recorded := recordedSeries(t)
	if len(recorded) == 0 {
		t.Error("no recording rule was checked")
	}
	seen := 0
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			seen++
			own, err := checkQuery(r.Expr, recorded)
			if err != nil {
				t.Errorf("%s: %v\n%s", r.Alert, err, r.Expr)
				continue
			}
			if !slices.Contains(own, "cluster") {
				t.Errorf("%s: the result has no label cluster, only %v", r.Alert, own)
			}
			if missing := minus(placeLabels(r.Alert, own), own); len(missing) > 0 {
				t.Errorf("%s: the result has no label %s, only %v", r.Alert, strings.Join(missing, ", "), own)
			}
			own = union(own, slices.Collect(maps.Keys(r.Labels)))
			for name, text := range r.Annotations {
				for _, l := range labelInTemplate.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(own, l[1]) {
						t.Errorf("%s: %s uses the label %s; the result has %v", r.Alert, name, l[1], own)
					}
				}
			}
		}
	}
	if want := len(alerts.All()); seen < want {
		t.Errorf("%d alerting rules were checked, want at least %d", seen, want)
	}
}

// placeLabels returns the labels that locate the subject of an alert: the Pod of a process, and the namespace of a program, a
// lock or an object. Some alerts are about a whole cluster.
func placeLabels(alert string, own []string) []string {
	switch {
	case slices.Contains([]string{"KubernetesAPIUnreachable", "InformerExporterAbsent", "ClusterWatchersTerminated"}, alert):
		return nil
	case slices.Contains(own, "instance"):
		return []string{"namespace", "pod"}
	case strings.HasPrefix(alert, "Cluster") || slices.Contains(own, "lock"):
		return []string{"namespace"}
	}
	return []string{"namespace", "job"}
}

var queryInRunbook = regexp.MustCompile("(?s)```promql\n(.*?)```")

// runbookQueries returns the queries of a generated runbook.
func runbookQueries(a alerts.Alert, c alerts.Config) (list []string) {
	for _, found := range queryInRunbook.FindAllStringSubmatch(string(alerts.RunbookPage(a, c)), -1) {
		list = append(list, strings.TrimSpace(found[1]))
	}
	return list
}

func TestRunbooksFitTheCatalog(t *testing.T) {
	recorded := recordedSeries(t)
	for _, a := range alerts.All() {
		queries := runbookQueries(a, alerts.Config{})
		if len(queries) == 0 {
			t.Errorf("the runbook of %s has no query", a.Name)
		}
		for _, expr := range queries {
			if _, err := checkQuery(expr, recorded); err != nil {
				t.Errorf("runbook of %s: %v\n%s", a.Name, err, expr)
			}
		}
	}
}

func TestDashboardsFitTheCatalog(t *testing.T) {
	recorded := recordedSeries(t)
	for _, d := range boards(t, dashboards.Config{}) {
		if len(d.Queries) == 0 {
			t.Errorf("%s: no query was checked", d.UID)
		}
		check := func(name, expr string) {
			plain := d.all().Replace(expr)
			if strings.Contains(plain, "$") {
				t.Errorf("%s, %q: a variable is left: %s", d.UID, name, plain)
			}
			if _, err := checkQuery(plain, recorded); err != nil {
				t.Errorf("%s, %q: %v\n%s", d.UID, name, err, plain)
			}
		}
		for _, q := range d.Queries {
			check(q.Panel, q.Expr)
		}
		for _, a := range d.Annotations.List {
			check("annotation "+a.Name, a.Expr)
		}
		for _, v := range variablesOf(t, d) {
			// Grafana queries the labels of all series in the time range, including counters.
			own, err := checkQuery("present_over_time("+v.selector+"[1d])", recorded)
			if err != nil || !slices.Contains(own, v.label) {
				t.Errorf("%s, variable %s: %v; the series has the labels %v", d.UID, v.label, err, own)
			}
		}
	}
}

// Every metric is used in a dashboard or rule, and a variable offers only values of series that its dashboard reads.
func TestNoMetricIsOrphaned(t *testing.T) {
	used := map[string]bool{}
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			for _, name := range metricsOf(t, r.Expr) {
				used[name] = true
			}
		}
	}
	for _, d := range boards(t, dashboards.Config{}) {
		read, text := map[string]bool{}, ""
		for _, q := range d.Queries {
			text += q.Expr
			for _, name := range metricsOf(t, q.Plain()) {
				read[name], used[name] = true, true
			}
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" && !strings.Contains(text, "$"+v.Name+`"`) {
				t.Errorf("%s: no query uses the variable %s", d.UID, v.Name)
			}
		}
		for _, v := range variablesOf(t, d) {
			for _, name := range metricsOf(t, v.selector) {
				if !read[name] {
					t.Errorf("%s: a variable offers values of %s, which no panel reads", d.UID, name)
				}
			}
		}
	}
	for _, m := range catalog.All() {
		if !used[m.Name] {
			t.Errorf("neither a panel nor an alert uses %s", m.Name)
		}
	}
}

// metricsOf returns the names of the catalog's metrics that a query reads.
func metricsOf(t *testing.T, expr string) (names []string) {
	t.Helper()
	for _, v := range selectorsOf(t, expr) {
		for _, name := range namesOf(v) {
			if s, ok := lookUp(name, nil); ok && s.metric.Name != "" {
				names = append(names, s.metric.Name)
			}
		}
	}
	return names
}

// selectorsOf returns the selectors of a query.
func selectorsOf(t *testing.T, expr string) (list []*parser.VectorSelector) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatalf("%v\n%s", err, expr)
	}
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			list = append(list, v)
		}
		return nil
	})
	return list
}

// dashboardVariable is a variable of a dashboard: the values of a label of the series that a selector finds.
type dashboardVariable struct{ selector, label string }

var labelValues = regexp.MustCompile(`^label_values\((.+), ([a-z0-9_]+)\)$`)

// variablesOf returns the variables of a dashboard, with the variables that they depend on at All.
func variablesOf(t *testing.T, d board) (list []dashboardVariable) {
	t.Helper()
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(d.all().Replace(v.Definition))
		if parts == nil {
			t.Fatalf("variable %s: %s is not understood", v.Name, v.Definition)
		}
		list = append(list, dashboardVariable{selector: parts[1], label: parts[2]})
	}
	if len(list) == 0 {
		t.Errorf("%s has no variables", d.UID)
	}
	return list
}

func TestGoodQueriesAreAccepted(t *testing.T) {
	recorded := map[string][]string{"informer:x:rate5m": {"cluster", "name"}}
	for expr, want := range map[string][]string{
		`k8s_informer_synced == 0 unless on (cluster, informer_type) informer_exporter_kind_up == 0`:                                  slices.Concat(targetLabels, catalog.InformerSynced.LabelNames()),
		`histogram_quantile(0.99, sum by (le, name) (rate(k8s_informer_event_lag_seconds_bucket[5m]))) > 0.12`:                        {"name"},
		`sum without (reason) (rate(k8s_informer_relists_total{reason!="initial"}[5m]))`:                                              slices.Concat(targetLabels, []string{"name", "informer_type", "watch_namespace"}),
		`sum by (name) (rate(k8s_informer_event_lag_seconds_bucket{le=~"5|5\\.0"}[5m]))`:                                              {"name"},
		`sum by (name) (k8s_informer_event_lag_seconds_bucket{le="5"}) >= 0.9 * sum by (name) (k8s_informer_event_lag_seconds_count)`: {"name"},
		`sum by (cluster, name) (informer:x:rate5m)`:                                                                                  {"cluster", "name"},
		`sum by (name, job) (k8s_informer_objects) / on (name) group_left () sum by (name) (k8s_informer_objects)`:                    {"name", "job"},
		`absent(informer_exporter_build_info{job="x"}) or group by (cluster) (present_over_time(informer_exporter_kind_up[1d]))`:      {"job", "cluster"},
		`k8s_informer_objects == (k8s_informer_objects offset 1h)`:                                                                    slices.Concat(targetLabels, catalog.InformerObjects.LabelNames()),
		`time() - max(k8s_informer_last_event_timestamp_seconds > 0)`:                                                                 nil,
		`{__name__=~"workqueue_depth|controller_active_workers"}`:                                                                     slices.Concat(targetLabels, []string{"name"}),
	} {
		got, err := checkQuery(expr, recorded)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s has the labels %v, want %v", expr, got, want)
		}
	}
}

func TestBadQueriesAreRefused(t *testing.T) {
	for expr, want := range map[string]string{
		`sum(k8s_informer_synced`:                                                       "parse error",
		`rate(k8s_informer_relists_total)`:                                              "expected type range vector",
		`k8s_informer_synced{reason="a", reason=~"("}`:                                  "error parsing regexp",
		`{name="load"}`:                                                                 `"" is neither in the catalog`,
		`{__name__=~"workqueue_depth|workqueue_dept"}`:                                  `"workqueue_dept" is neither in the catalog`,
		`{__name__=~"workqueue_.+"}`:                                                    `"workqueue_.+" is neither in the catalog`,
		`{__name__=~"workqueue_depth|controller_leader", lock="a"}`:                     "workqueue_depth has no label lock",
		`workqueue_adds_total unless workqueue_retries_total offset 1m`:                 "workqueue_adds_total counts up",
		`workqueue_adds_total unless workqueue_adds_total`:                              "workqueue_adds_total counts up",
		`{__name__=~"workqueue_depth|workqueue_adds_total"}`:                            "workqueue_adds_total counts up",
		`sum by (controller) ({__name__=~"workqueue_depth|controller_active_workers"})`: "has no label controller",
		`k8s_informer_sinced == 0`:                                                      "neither in the catalog",
		`rate(k8s_informer_event_lag_seconds[5m])`:                                      "neither in the catalog", // a histogram's name is not a series
		`rate(k8s_informer_relists_total_bucket[5m])`:                                   "neither in the catalog",
		`k8s_informer_objects_count`:                                                    "neither in the catalog",
		`k8s_informer_relists_total > 5`:                                                "not directly inside rate",
		`rate(sum by (name) (k8s_informer_relists_total)[5m:])`:                         "not directly inside rate", // a reset of one is lost in the sum
		`max_over_time(k8s_informer_event_lag_seconds_count[5m])`:                       "not directly inside rate",
		`sum by (name) (k8s_informer_event_lag_seconds_bucket{le="5"}) >= sum by (name) (k8s_informer_handler_duration_seconds_count)`: "not directly inside rate", // of another histogram
		`rate(k8s_informer_objects[5m])`:                                                                     "rate of k8s_informer_objects, which is not a counter",
		`increase(informer:x:rate5m[5m])`:                                                                    "increase of informer:x:rate5m, which is not a counter",
		`k8s_informer_synced{queue="a"}`:                                                                     "has no label queue",
		`up{name="a"}`:                                                                                       "up has no label name",
		`increase(k8s_informer_relists_total{reason="expierd"}[5m])`:                                         "no value of reason matches",
		`increase(k8s_informer_relists_total{reason!="expierd"}[5m])`:                                        "no value of reason matches",
		`increase(k8s_informer_relists_total{reason=~"expierd|nope"}[5m])`:                                   "no value of reason matches",
		`sum(rate(k8s_informer_event_lag_seconds_bucket{le="4"}[5m]))`:                                       "no value of le matches",
		`sum(rate(k8s_informer_event_lag_seconds_bucket[5m]))`:                                               "counts an event in every bucket",
		`sum without (le) (rate(k8s_informer_event_lag_seconds_bucket[5m]))`:                                 "counts an event in every bucket",
		`histogram_quantile(0.9, sum by (name) (rate(k8s_informer_event_lag_seconds_bucket[5m])))`:           "counts an event in every bucket",
		`histogram_quantile(0.9, rate(k8s_informer_event_lag_seconds_count[5m]))`:                            "has lost the label le",
		`histogram_quantile(99, rate(k8s_informer_event_lag_seconds_bucket[5m]))`:                            "no quantile 99",
		`sum by (reason) (k8s_informer_synced)`:                                                              "has no label reason",
		`sum by (instance) (sum by (name) (k8s_informer_synced))`:                                            "has no label instance",
		`sum without (handler) (k8s_informer_synced)`:                                                        "has no label handler",
		`label_join(sum without (lock) (workqueue_depth), "name", "", "job")`:                                "has no label lock",
		`sum by (name) (k8s_informer_objects) / sum by (name, job) (k8s_informer_objects)`:                   "never match: only one has job",
		`k8s_informer_synced == 0 unless informer_exporter_kind_up == 0`:                                     "never match: only one has",
		`k8s_informer_synced unless on (name) informer_exporter_kind_up`:                                     "on (name): not both sides",
		`k8s_informer_synced and ignoring (queue) k8s_informer_objects`:                                      "ignoring (queue): neither side",
		`k8s_informer_synced * on (job) group_left (version) informer_exporter_kind_up`:                      "the one side of * does not have it",
		`sum by (name) (rate(k8s_informer_watches_total[5m])) / rate(k8s_informer_watch_timeouts_total[5m])`: "never match",
	} {
		_, err := checkQuery(expr, map[string][]string{"informer:x:rate5m": {"name"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", expr, err, want)
		}
	}
}
