package promql_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/promql"
)

func TestScan(t *testing.T) {
	q, err := promql.Scan(`60 * max by (name) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{cluster=~"$cluster", reason!="expired"}[$__rate_interval]))) > 10 # comment`)
	if err != nil {
		t.Fatal(err)
	}
	want := promql.Query{
		Grouping: []string{"name", "reason"},
		Series: []promql.Series{{
			Name: "k8s_informer_watch_disconnects_total", Func: "rate", Range: "$__rate_interval",
			Matchers: []promql.Matcher{{"cluster", "=~", "$cluster"}, {"reason", "!=", "expired"}},
		}},
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("got  %+v\nwant %+v", q, want)
	}
}

// Grafana's variables take their values from several metrics at once; nothing else does.
func TestScanWithoutName(t *testing.T) {
	q, err := promql.Scan(`{__name__=~"workqueue_depth|controller_active_workers", job=~"$job"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []promql.Series{{Matchers: []promql.Matcher{{"__name__", "=~", "workqueue_depth|controller_active_workers"}, {"job", "=~", "$job"}}}}
	if !reflect.DeepEqual(q.Series, want) {
		t.Errorf("got  %+v\nwant %+v", q.Series, want)
	}
}

func TestCheckAccepts(t *testing.T) {
	recorded := map[string][]string{"informer:x:rate5m": {"name"}}
	for _, expr := range []string{
		`k8s_informer_synced == 0 unless on (cluster, job, instance, informer_type) informer_exporter_kind_up == 0`,
		`histogram_quantile(0.99, sum by (le, handler) (rate(k8s_informer_handler_duration_seconds_bucket[5m]))) > 0.12`,
		`k8s_informer_last_sync_duration_seconds == (k8s_informer_last_sync_duration_seconds offset 1h)`,
		`sum by (name) (informer:x:rate5m) > (14.4 * 0.01)`,
		`absent(informer_exporter_build_info) or group by (cluster) (present_over_time(informer_exporter_build_info[1d]))`,
		`time() - max(k8s_informer_last_event_timestamp_seconds > 0)`,
		`up{job=~".*informer-exporter.*"}`,
		`sum(rate(k8s_informer_event_lag_seconds_bucket{le=~"5|5\\.0"}[5m])) / clamp_min(sum(rate(k8s_informer_event_lag_seconds_count[5m])), 1e-9)`,
	} {
		if err := promql.Check(expr, recorded); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for expr, want := range map[string]string{
		`k8s_informer_sinced == 0`:                                           `"k8s_informer_sinced" is not in the catalog`,
		`rate(k8s_informer_synced[5m])`:                                      "rate of the gauge",
		`k8s_informer_relists_total > 5`:                                     "without rate or increase",
		`sum(increase(k8s_informer_relists_total{cause="x"}[5m]))`:           "has no label cause",
		`increase(k8s_informer_relists_total{reason="expierd"}[5m])`:         `reason is never "expierd"`,
		`sum by (queue) (k8s_informer_synced)`:                               "no series of the query has the label queue",
		`rate(k8s_informer_event_lag_seconds[5m])`:                           "is not in the catalog", // a histogram's name is no series
		`rate(k8s_informer_relists_total_bucket[5m])`:                        "is not in the catalog",
		`rate(k8s_informer_relists_total)`:                                   "no range for rate",
		`k8s_informer_synced[5m]`:                                            "range that no function takes",
		`rat(k8s_informer_relists_total[5m])`:                                "unknown function rat",
		`sum(k8s_informer_synced`:                                            "1 ( without )",
		`sum(k8s_informer_synced))`:                                          ") without (",
		`k8s_informer_synced{name=~"("}`:                                     "missing closing",
		`k8s_informer_synced{name}`:                                          "no matcher",
		`k8s_informer_synced{name="a"`:                                       "no comma",
		`k8s_informer_synced{name="a" job="b"}`:                              "no comma",
		`{name="a"}`:                                                         "nothing about the metric's name",
		`{__name__=~"k8s_informer_.+"}`:                                      `"" is not in the catalog`,
		`k8s_informer_synced & 1`:                                            "unexpected",
		``:                                                                   "empty",
		`sum by (name`:                                                       "unexpected",
		`rate(k8s_informer_relists_total[`:                                   "no range",
		`sum by (reason) (k8s_informer_synced) + sum(rate(up{nme="a"}[5m]))`: "up has no label nme",
	} {
		err := promql.Check(expr, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", expr, err, want)
		}
	}
}

func TestMetrics(t *testing.T) {
	got := promql.Metrics(`sum(rate(k8s_informer_event_lag_seconds_bucket[5m])) + k8s_informer_synced + up`)
	if want := []string{"k8s_informer_event_lag_seconds", "k8s_informer_synced"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`sum by (name) (rate(k8s_informer_relists_total{reason!="initial"}[5m])) > 1`)
	f.Fuzz(func(_ *testing.T, expr string) { _ = promql.Check(expr, nil) })
}
