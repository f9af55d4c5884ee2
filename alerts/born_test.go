package alerts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

var increaseOf = regexp.MustCompile(`increase\(([a-z0-9_]+)(\{[^{}]*\})?\[([0-9a-z]+)\]\)`)

// plainIncreases are the increases, by rule, that may ignore a first sample above 0.
var plainIncreases = map[string][]string{
	// A minimum number of events beside their rate, which goes on.
	"ControllerClientErrors":    {"k8s_client_requests_total[5m]", "rest_client_requests_total[5m]"},
	"ControllerClientThrottled": {"k8s_client_throttle_wait_seconds_count[5m]", "rest_client_rate_limiter_duration_seconds_count[5m]"},
	"ControllerQueueSlow":       {"workqueue_queue_duration_seconds_count[5m]"},
	"ControllerReconcileErrors": {"controller_reconcile_total[5m]", "controller_runtime_reconcile_total[5m]"},
	"ClusterWatchCacheLate":     {"apiserver_watch_cache_consistent_read_total[5m]"},
	"ClusterWatchEventsSlow":    {"apiserver_watch_events_dispatch_duration_seconds_count[5m]"},
	"ControllerSyncsSkipped": {
		"daemonset_controller_stale_sync_skips_total[5m]", "horizontal_pod_autoscaler_controller_stale_sync_skips_total[5m]",
		"job_controller_stale_sync_skips_total[5m]", "replicaset_controller_stale_sync_skips_total[5m]", "statefulset_controller_stale_sync_skips_total[5m]",
	},
	"ControllerHotLoop":        {"controller_self_caused_reconciles_total[2m]"},
	"ControllerWriteConflicts": {"k8s_client_conflicts_total[5m]"},
	"InformerHandlerSlow":      {"k8s_informer_handler_duration_seconds_count[5m]"},
	"ClusterClientConflicts":   {"k8s_audit_conflicts_total[5m]"},
	// A queue from which items are taken, or not.
	"ControllerQueueBlocked": {"workqueue_queue_duration_seconds_count[5m]"},
	"ControllerQueueDeep":    {"workqueue_queue_duration_seconds_count[10m]"},
	// The number in a Lease, which is older than the process that reports it.
	"ClusterLeaseChanges":                         {"k8s_lease_transitions_total[15m]"},
	"lock:controller_leader_transitions:increase": {"k8s_lease_transitions_total[15m]"},
	// Shares of events by burn rates.
	"informer:k8s_informer_event_lag_seconds_count:increase5m":           {"k8s_informer_event_lag_seconds_count[5m15s]"},
	"informer:k8s_informer_event_lag_seconds:slow_increase5m":            {"k8s_informer_event_lag_seconds_bucket[5m15s]"},
	"informer:k8s_informer_event_lag_seconds:slow_ratio_rate30m":         {"k8s_informer_event_lag_seconds_bucket[30m]", "k8s_informer_event_lag_seconds_count[30m]"},
	"instance_informer:k8s_informer_event_lag_seconds:slow_ratio_rate5m": {"k8s_informer_event_lag_seconds_bucket[5m]", "k8s_informer_event_lag_seconds_count[5m]"},
	"instance_informer:k8s_informer_event_lag_seconds:slow_ratio_rate1h": {"k8s_informer_event_lag_seconds_bucket[1h]"},
	"instance_informer:k8s_informer_event_lag_seconds_count:increase1h":  {"k8s_informer_event_lag_seconds_count[1h]"},
}

// TestFirstSamplesCount goes through all rules: an increase must be written by prom.Occurred, which also reads the value at the beginning
// of the window (P11), unless plainIncreases has it.
func TestFirstSamplesCount(t *testing.T) {
	checked, used := 0, map[string]bool{}
	for _, r := range rules(alerts.Config{}) {
		for _, m := range increaseOf.FindAllStringSubmatch(r.Expr, -1) {
			metric, selector, window := m[1], m[2], m[3]
			if plain := metric + "[" + window + "]"; slices.Contains(plainIncreases[r.Record+r.Alert], plain) {
				used[r.Record+r.Alert+plain] = true
				continue
			}
			checked++
			if !strings.Contains(r.Expr, metric+selector+" offset "+window) {
				t.Errorf("%s%s: increase ignores a first sample of %s[%s] above 0; use prom.Occurred", r.Record, r.Alert, metric, window)
			}
		}
	}
	for rule, list := range plainIncreases {
		for _, plain := range list {
			if !used[rule+plain] {
				t.Errorf("%s has no increase of %s", rule, plain)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d increases", checked)
	}
}

// TestBornWithTheFault evaluates every alert that fires in testdata on the same faults, with counters that are above 0 at their first
// sample: in a process that was just started, and in one that runs for long (P11).
func TestBornWithTheFault(t *testing.T) {
	files, err := filepath.Glob("testdata/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".test.yaml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s struct {
				Interval string          `json:"evaluation_interval"`
				Tests    []promtool.Test `json:"tests"`
			}
			if err := yaml.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
			tests := map[string][]promtool.Test{} // by the rules that they need
			for _, test := range s.Tests {
				test.Queries = slices.DeleteFunc(test.Queries, func(q promtool.Query) bool {
					return len(q.Samples) == 0 || !strings.HasPrefix(q.Expr, "ALERTS{") || !strings.Contains(q.Expr, `alertstate="firing"`)
				})
				raw, err := json.Marshal(test)
				if err != nil {
					t.Fatal(err)
				}
				names := neededBy(t, raw)
				for _, before := range []time.Duration{0, lookback(t, names)} {
					if b, ok := born(t, test, before); ok {
						needed := strings.Join(names, " ")
						tests[needed] = append(tests[needed], b)
					}
				}
			}
			all := alerts.Rules(alerts.Config{RunbookBase: string(runbooks.Find(raw))})
			var suites []promtool.Suite[promtool.Test]
			for needed, tests := range tests {
				suites = append(suites, promtool.Suite[promtool.Test]{Interval: s.Interval, Tests: tests, Groups: only(strings.Fields(needed), all)})
			}
			if out, ok := promtool.RunAll(t, suites); !ok {
				t.Error(out)
			}
		})
	}
}

var looksBack = regexp.MustCompile(`(\[|offset )([0-9a-z]+)`)

// lookback returns the time that some rules look back, at most two hours: the longest window and offset of each, because one may read the
// record of another. It is rounded up to half hours, which each interval of evaluations divides.
func lookback(t *testing.T, names []string) (all time.Duration) {
	t.Helper()
	for _, r := range defaultRules() {
		if !slices.Contains(names, r.Alert+r.Record) {
			continue
		}
		longest := map[string]time.Duration{}
		for _, m := range looksBack.FindAllStringSubmatch(r.Expr, -1) {
			d, err := model.ParseDuration(m[2])
			if err != nil {
				t.Fatalf("%s%s: %v", r.Alert, r.Record, err)
			}
			longest[m[1]] = max(longest[m[1]], time.Duration(d))
		}
		for _, d := range longest {
			all += d
		}
	}
	return min(all.Truncate(30*time.Minute)+30*time.Minute, 2*time.Hour)
}

// born returns a test with counters that begin with their first increase: in a new process, or in one of which the target was scraped for
// some time before. It reports false if no counter begins late.
func born(t *testing.T, test promtool.Test, before time.Duration) (promtool.Test, bool) {
	t.Helper()
	young := before == 0
	interval, err := model.ParseDuration(test.Interval)
	if err != nil {
		t.Fatal(err)
	}
	queries := slices.Clone(test.Queries)
	targets := map[string]int{} // the number of the interval in which the first counter of a target begins
	list := slices.Clone(test.Series)
	for i, s := range list {
		name, _, _ := strings.Cut(s.Series, "{")
		if !isCounter(name) {
			continue
		}
		all, ok := expanded(s.Values)
		at := firstRise(all)
		if !ok || at < 0 || strings.Trim(strings.Join(all[:at], ""), "0_") != "" { // it was above 0 before
			continue
		}
		for j := range at {
			all[j] = "_"
		}
		list[i].Values = strings.Join(all, " ")
		if first, known := targets[target(s.Series)]; !known || at < first {
			targets[target(s.Series)] = at
		}
	}
	for labels, at := range targets {
		start := fmt.Sprintf("%dx3000", int(time.Duration(at)*time.Duration(interval)/time.Second)-10)
		if at > 0 {
			start = fmt.Sprintf("_x%d %s", at, start)
		}
		if !young {
			start = "-86400x9000"
		}
		list = append(list, promtool.Series{Series: "process_start_time_seconds{" + labels + "}", Values: start})
	}
	if !young { // the target was scraped before
		for i, s := range list {
			if !strings.HasPrefix(s.Series, "process_start_time_seconds") {
				list[i].Values = fmt.Sprintf("_x%d %s", before/time.Duration(interval), s.Values)
			}
		}
		for i, q := range queries {
			at, err := model.ParseDuration(q.At)
			if err != nil {
				t.Fatal(err)
			}
			queries[i].At = (time.Duration(at) + before).String()
		}
	}
	test.Series, test.Queries = list, queries
	test.Name += map[bool]string{true: ", in a new process", false: ", in a series that is new"}[young]
	timestamps := slices.ContainsFunc(list, func(s promtool.Series) bool { return strings.Contains(s.Series, "_timestamp_") })
	return test, len(targets) > 0 && len(queries) > 0 && (young || !timestamps)
}

var ofTargets = regexp.MustCompile(`\b(cluster|job|instance) ?= ?"[^"]*"`)

// target returns the labels of a series that identify its target.
func target(series string) string { return strings.Join(ofTargets.FindAllString(series, -1), ", ") }

func isCounter(name string) bool {
	if name == catalog.LeaseTransitions.Name {
		return false
	}
	for _, suffix := range []string{"_total", "_bucket", "_count", "_sum"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

var notation = regexp.MustCompile(`^(-?[\d.]+|_)(?:([+-][\d.]+))?(?:x(\d+))?$`)

// expanded returns the values of promtool's notation, and reports whether they are numbers.
func expanded(values string) (list []string, ok bool) {
	for _, part := range strings.Fields(values) {
		if part == "stale" {
			list = append(list, part)
			continue
		}
		m := notation.FindStringSubmatch(part)
		if m == nil {
			return nil, false
		}
		n, _ := strconv.Atoi(m[3])
		if m[1] == "_" {
			list = append(list, slices.Repeat([]string{"_"}, max(n, 1))...)
			continue
		}
		first, _ := strconv.ParseFloat(m[1], 64)
		step, _ := strconv.ParseFloat(m[2], 64)
		for i := range n + 1 {
			list = append(list, strconv.FormatFloat(first+float64(i)*step, 'f', -1, 64))
		}
	}
	return list, true
}

// firstRise returns the index of the first value above 0, or -1.
func firstRise(values []string) int {
	return slices.IndexFunc(values, func(v string) bool { return v != "_" && v != "0" && v != "stale" })
}
