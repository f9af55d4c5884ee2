package catalog_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func TestTargetsOverride(t *testing.T) {
	threshold, wait, window := 10.0, 2*time.Minute, 7*time.Minute
	targets, err := catalog.NewTargets(map[string]catalog.Override{
		"sync_lag":     {Threshold: &threshold, For: &wait, Severity: catalog.Page},
		"event_lag":    {Threshold: &threshold},
		"coverage_gap": {Window: &window},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o := targets.Of(catalog.Objectives.SyncLag); o.Threshold != 10 || o.For != wait || o.Severity != catalog.Page || o.Title != catalog.Objectives.SyncLag.Title {
		t.Errorf("sync_lag in force: %+v", o)
	}
	if o := targets.Of(catalog.Objectives.CoverageGap); o.Threshold != catalog.Objectives.CoverageGap.Threshold || o.Window != window {
		t.Errorf("coverage_gap in force: %+v", o)
	}
	if catalog.Objectives.SyncLag.Threshold != 5 {
		t.Errorf("the catalog itself changed: %v", catalog.Objectives.SyncLag.Threshold)
	}
	for _, o := range targets.All() {
		if o.ID == "event_lag" && o.Threshold != 10 {
			t.Errorf("All has event_lag at %v", o.Threshold)
		}
	}
	if o := (catalog.Targets{}).Of(catalog.Objectives.SyncLag); o.Threshold != 5 {
		t.Errorf("the zero value has sync_lag at %v", o.Threshold)
	}
}

func TestTargetsRefuse(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	negative, short, minute := -time.Second, time.Millisecond, time.Minute
	for want, overrides := range map[string]map[string]catalog.Override{
		"sync_lagg: unknown objective; use one of not_synced, ": {"sync_lagg": {}},
		"not negative":                       {"sync_lag": {Threshold: number(-1)}},
		"threshold is NaN":                   {"sync_lag": {Threshold: number(math.NaN())}},
		"threshold is +Inf":                  {"sync_lag": {Threshold: number(math.Inf(1))}},
		"must be below 1":                    {"list_watch_errors": {Threshold: number(5)}},
		"not a bucket of k8s_informer_event": {"event_lag": {Threshold: number(7)}},
		"use one of 0.001, 0.0025":           {"event_lag": {Threshold: number(60)}}, // the top bucket: a quantile never exceeds it
		"the other fields can":               {"not_synced": {Threshold: number(1)}},
		`severity is "critical"`:             {"sync_lag": {Severity: "critical"}},
		"must not be negative":               {"sync_lag": {For: &negative}},
		"come from the burn rates":           {"event_lag": {Severity: catalog.Page}},
		"window, for and severity come":      {"event_lag": {Window: &minute}},
		"the metric is compared directly":    {"sync_lag": {Window: &minute}},
		"a number of events in 15m":          {"leader_changes": {Window: &minute}},
		"window is 1ms":                      {"coverage_gap": {Window: &short}},
	} {
		_, err := catalog.NewTargets(overrides)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", overrides, err, want)
		}
	}
	_, err := catalog.NewTargets(map[string]catalog.Override{"a": {}, "b": {}})
	if err == nil || !strings.Contains(err.Error(), "a: ") || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("not every bad override is named: %v", err)
	}
}
