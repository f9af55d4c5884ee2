package alerts_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

const queriesFile = "testdata/queries.yaml"

// labelsOf are the labels of metrics that other projects report, by a prefix of their names, without the target's labels.
var labelsOf = []struct {
	prefix string
	labels []string
}{
	{"controller_runtime_reconcile_total", []string{"controller", "result"}},
	{"controller_runtime_client_consistency_wait_duration_seconds", []string{"operation", "result"}},
	{"controller_runtime_", []string{"controller"}},
	{"leader_election_master_status", []string{"name"}},
	{"rest_client_requests_total", []string{"code", "method"}},
	{"rest_client_", []string{"verb"}},
	{"workqueue_", []string{"name", "controller"}},
	{"apiserver_storage_consistency_checks_total", []string{"group", "resource", "status"}},
	{"apiserver_watch_cache_consistent_read_total", []string{"group", "resource", "fallback"}},
	{"apiserver_watch_events_dispatch_duration_seconds", []string{"group", "resource", "stage"}},
	{"apiserver_longrunning_requests", []string{"group", "resource", "verb"}},
	{"apiserver_watch_cache_read_wait_seconds", []string{"group", "resource"}},
	{"daemonset_", []string{"group", "resource"}}, {"horizontal_", []string{"group", "resource"}}, {"job_", []string{"group", "resource"}},
	{"replicaset_", []string{"group", "resource"}}, {"statefulset_", []string{"group", "resource"}},
	{"instance:informer_store_resource_version:age_seconds", []string{"name", "group", "resource"}},
	{"apiserver_terminated_watchers_total", []string{"group", "resource"}},
	{"go_", nil}, {"process_", nil}, {"scrape_", nil}, {"up", nil},
}

// ofTarget are the labels of all series.
var ofTarget = []string{"cluster", "namespace", "pod", "job", "instance"}

// valuesOf are the values of each label: first the alert's, then others. No result has the second value of cluster.
var valuesOf = map[string][]string{
	"cluster": {"eu", "us"}, "namespace": {"shop", "crm"}, "pod": {"shop-0", "shop-1"}, "instance": {"a", "b"},
	"job": {"shop", "informer-exporter"}, "name": {"shop", "informer-exporter"},
	"informer_type": {"pods", "nodes", "secrets"}, "controller": {"orders", "refunds"}, "verb": {"GET", "PUT", "WATCH", "update"}, "method": {"GET", "POST"},
	"code": {"503", "200", "429", "error", "<error>", "404"}, "result": {"error", "success", "panic", "terminal", "timeout"},
	"reason": {"error", "initial"}, "type": {"added", "bookmark"}, "status": {"failure", "success"},
	"cause": {"resync", "nil"}, "stage": {"received", "handled"}, "lease": {"shop", "kube-controller-manager"}, "lease_namespace": {"shop", "crm"},
	"fallback": {"true", "false"}, "operation": {"get", "list"},
}

func labelValues(label string) []string {
	if v := valuesOf[label]; v != nil {
		return v
	}
	return []string{label + "1", label + "2", label + "3"}
}

var (
	// substitute matches upstream metrics that stand in for the library's metrics.
	substitute    = regexp.MustCompile(`^(controller_runtime|rest_client|leader_election)_`)
	promqlBlock   = regexp.MustCompile("(?m)^\\d+\\. (.+)\n   ```promql\n   (.+)\n   ```$")
	selectorOf    = regexp.MustCompile(`([a-z_:][a-z0-9_:]*)\{`)
	queryVariable = regexp.MustCompile(`\$([A-Z_]+)`)
	gotSamples    = regexp.MustCompile(`(?m)^\s+got:(.*)$`)
	gotSample     = regexp.MustCompile(`\{([^}]*)\} ([-+.0-9eEInfNa]+)`)
)

// flag reports whether a metric is 0 or 1.
func flag(metric string) bool {
	return slices.Contains([]string{
		"up", "k8s_informer_watch_connected", "k8s_informer_synced", "informer_exporter_kind_up", "k8s_lease_expired", "k8s_lease_holder_info",
		"informer_exporter_config_last_reload_successful", "controller_leader", "leader_election_master_status",
	}, metric)
}

// modelOf returns series of a metric: the alert's, and some that differ from it in one label each, so that a query that
// loses or adds a label, a matcher or an aggregation has another result. Each has a different value; some do not change, and
// some counters begin late. Upstream metrics belong to another process, and stand in for the library's.
func modelOf(t *testing.T, metric string) (all []promtool.Series) {
	t.Helper()
	labels := slices.Clone(ofTarget)
	base, _ := strings.CutSuffix(metric, "_bucket")
	histogram := base != metric
	for _, suffix := range []string{"_sum", "_count"} {
		base = strings.TrimSuffix(base, suffix)
	}
	counter := histogram || base != metric || strings.HasSuffix(metric, "_total")
	if m, ok := catalog.ByName(base); ok && !m.Foreign() && !strings.HasPrefix(base, "workqueue_") {
		counter = counter || m.Type == catalog.TypeCounter
		for _, l := range m.LabelNames() {
			if !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	} else {
		i := slices.IndexFunc(labelsOf, func(l struct {
			prefix string
			labels []string
		}) bool {
			return strings.HasPrefix(metric, l.prefix)
		})
		if i < 0 {
			t.Fatalf("%s: the labels are not known", metric)
		}
		labels = append(labels, labelsOf[i].labels...)
	}
	standsIn := substitute.MatchString(metric)
	n, scale := 0, 1+len(metric)%7 // metrics differ as well
	add := func(changed map[string]string) {
		n++
		var matchers []string
		for _, l := range labels {
			v := labelValues(l)[0]
			if l == "instance" && standsIn {
				v = "c"
			}
			if other, ok := changed[l]; ok {
				v = other
			}
			matchers = append(matchers, fmt.Sprintf("%s=%q", l, v))
		}
		one := func(value string, more ...string) {
			all = append(all, promtool.Series{Series: metric + "{" + strings.Join(append(slices.Clone(matchers), more...), ",") + "}", Values: value})
		}
		switch {
		case histogram:
			for i, le := range []string{"0.1", "1", "10", "+Inf"} {
				one(fmt.Sprintf("0+%dx1500", []int{0, 50 + 2*n, 200, 200}[i]*scale), fmt.Sprintf("le=%q", le))
			}
		case flag(metric):
			one(fmt.Sprintf("%dx1440 %[1]dx60", n%2))
			if metric == "leader_election_master_status" { // changed leader within the last minutes
				all[len(all)-1].Values = fmt.Sprintf("%dx1490 %dx10", n%2, (n+1)%2)
			}
		case strings.HasSuffix(metric, "_sum"):
			one(fmt.Sprintf("0+%dx1500", n*(n+1)*6))
		case counter && base == metric && n%5 == 4:
			one(fmt.Sprintf("%dx1500", n)) // does not change
		case counter && base == metric && n%5 == 0:
			one(fmt.Sprintf("_x1496 %dx4", n)) // new
		case counter:
			one(fmt.Sprintf("0+%dx1500", n*6*scale))
		case n%5 == 4:
			one("0x1500")
		default:
			one(fmt.Sprintf("%dx1470 %d+%dx30", (150+n*(n%3))*scale, (100+n)*scale, n)) // decreases
		}
	}
	add(nil)
	for _, l := range labels {
		for _, v := range labelValues(l)[1:] {
			if standsIn && v == "error" || !standsIn && v == "<error>" {
				continue // client-go calls it <error>, the library error
			}
			add(map[string]string{l: v})
		}
	}
	if metric == "k8s_informer_event_lag_seconds_count" { // an exporter with an informer for each of two namespaces
		add(map[string]string{"name": "informer-exporter", "watch_namespace": "crm"})
	}
	if metric == "workqueue_depth" {
		add(map[string]string{"name": "orders"}) // the queue of the controller
	}
	if metric == "workqueue_queue_duration_seconds" {
		add(map[string]string{"job": "native"}) // without the series that rules read
	}
	return all
}

// runbookQueries returns the queries of all runbooks by alert and text, for the series of the model.
func runbookQueries(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, a := range alerts.All() {
		all[a.Name] = map[string]string{}
		for _, m := range promqlBlock.FindAllStringSubmatch(string(alerts.RunbookPage(a, alerts.Config{})), -1) {
			all[a.Name][m[1]] = queryVariable.ReplaceAllStringFunc(m[2], func(v string) string { return labelValues(strings.ToLower(v[1:]))[0] })
		}
		if len(all[a.Name]) != len(a.Runbook.Queries) {
			t.Errorf("%s: %d queries on the page, want %d with different texts", a.Name, len(all[a.Name]), len(a.Runbook.Queries))
		}
	}
	return all
}

// TestRunbookQueries evaluates the queries of all runbook pages with Prometheus' own engine, on the series of the model over a day.
// UPDATE=1 writes the results; review them before committing.
func TestRunbookQueries(t *testing.T) {
	all := runbookQueries(t)
	want := map[string]map[string][]promtool.Sample{}
	update := os.Getenv("UPDATE") != ""
	if !update {
		raw, err := os.ReadFile(queriesFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	metrics := map[string]bool{}
	test := promtool.Test{Name: "runbooks", Interval: "1m"}
	for _, alert := range slices.Sorted(maps.Keys(all)) {
		for _, text := range slices.Sorted(maps.Keys(all[alert])) {
			query := all[alert][text]
			for _, m := range selectorOf.FindAllStringSubmatch(query, -1) {
				metrics[m[1]] = true
			}
			samples := want[alert][text]
			if len(samples) == 0 && !update {
				t.Errorf("%s: %q has no result in %s: run this test with UPDATE=1", alert, text, queriesFile)
			}
			test.Queries = append(test.Queries, promtool.Query{Expr: "round(" + query + ", 0.001)", At: "25h", Samples: samples})
		}
		for text := range want[alert] {
			if all[alert][text] == "" {
				t.Errorf("%s has no query %q", alert, text)
			}
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		test.Series = append(test.Series, modelOf(t, metric)...)
	}
	if update {
		writeResults(t, test, all)
		return
	}
	if out, ok := promtool.Run(t, "1m", []promtool.Test{test}, nil); !ok {
		t.Error(out)
	}
}

// writeResults writes the results of queries.
func writeResults(t *testing.T, test promtool.Test, all map[string]map[string]string) {
	t.Helper()
	for i := range test.Queries {
		test.Queries[i].Samples = []promtool.Sample{{Labels: `{no="result"}`}} // promtool prints what it got instead
	}
	out, _ := promtool.Run(t, "1m", []promtool.Test{test}, nil)
	got := gotSamples.FindAllStringSubmatch(out, -1)
	if len(got) != len(test.Queries) {
		t.Fatalf("%d results of %d queries: %s", len(got), len(test.Queries), out)
	}
	var b strings.Builder
	b.WriteString("# The results of the queries of runbooks. See TestRunbookQueries.\n")
	i := 0
	for _, alert := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s:\n", alert)
		for _, text := range slices.Sorted(maps.Keys(all[alert])) {
			fmt.Fprintf(&b, "  %q:\n", text)
			for _, s := range gotSample.FindAllStringSubmatch(got[i][1], -1) {
				value, err := strconv.ParseFloat(s[2], 64)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "    - {labels: '{%s}', value: %s}\n", s[1], strconv.FormatFloat(value, 'f', -1, 64))
			}
			i++
		}
	}
	if err := os.WriteFile(queriesFile, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
