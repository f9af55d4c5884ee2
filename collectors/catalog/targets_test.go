package catalog_test

import (
	"math"
	"slices"
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
		t.Errorf("sync_lag in effect: %+v", o)
	}
	if o := targets.Of(catalog.Objectives.CoverageGap); o.Threshold != catalog.Objectives.CoverageGap.Threshold || o.Window != window {
		t.Errorf("coverage_gap in effect: %+v", o)
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
		"use one of 0.001, 0.01":             {"event_lag": {Threshold: number(60)}}, // the top bucket: a quantile never exceeds it
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

func TestScrapeInterval(t *testing.T) {
	short, wait := 90*time.Second, time.Second
	targets, err := catalog.NewTargets(map[string]catalog.Override{"coverage_gap": {Window: &short}, "watch_down": {For: &wait}})
	if err != nil {
		t.Fatal(err)
	}
	if got := targets.ScrapeInterval(); got != catalog.DefaultScrapeInterval {
		t.Errorf("default %v", got)
	}
	// Objectives are made for the default scrape interval.
	for _, o := range catalog.Objectives.All() {
		if got := (catalog.Targets{}).Of(o); got.Window != o.Window || got.For != o.For || !slices.Equal(got.BurnRates, o.BurnRates) {
			t.Errorf("%s does not fit the default scrape interval: %+v", o.ID, got)
		}
	}
	for _, interval := range []time.Duration{0, 4 * time.Second, 121 * time.Second} {
		if _, err := targets.AtScrapeInterval(interval); err == nil || !strings.Contains(err.Error(), "is not between 5s and 2m") {
			t.Errorf("%v: error %v", interval, err)
		}
	}
	if _, err := targets.AtScrapeInterval(time.Minute); err == nil || !strings.Contains(err.Error(), "1m does not fit the window of coverage_gap, 1m30s") {
		t.Errorf("a window of a scrape and a half: %v", err)
	}

	slow, err := (catalog.Targets{}).AtScrapeInterval(2 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range slow.All() {
		if o.Window > 0 && o.Window < 8*time.Minute || o.For > 0 && o.For < 4*time.Minute {
			t.Errorf("%s: window %v, for %v", o.ID, o.Window, o.For)
		}
		for _, b := range o.BurnRates {
			if b.Short < 8*time.Minute || b.For < 4*time.Minute || b.Long < time.Hour {
				t.Errorf("%s: burn rate %+v", o.ID, b)
			}
		}
	}
	if o := slow.Of(catalog.Objectives.CacheDiffers); o.For != 0 {
		t.Errorf("an objective without a wait waits for %v", o.For)
	}
	if o := catalog.Objectives.EventLag; o.BurnRates[0].Short != 5*time.Minute {
		t.Errorf("the catalog itself changed: %v", o.BurnRates)
	}

	fast, err := (catalog.Targets{}).AtScrapeInterval(5 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if o := fast.Of(catalog.Objectives.ScrapeDuration); o.Threshold != 2.5 {
		t.Errorf("scrapes of at most 5 s are slow above %v s", o.Threshold)
	}

	minute, err := (catalog.Targets{}).AtScrapeInterval(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if o := minute.Of(catalog.Objectives.WatchDown); o.For != 2*time.Minute {
		t.Errorf("watch_down waits for %v at a minute, want two scrapes", o.For)
	}
	if o := minute.Of(catalog.Objectives.ListWatchErrors); o.Window != 6*time.Minute {
		t.Errorf("a minimum number of errors is counted over %v at a minute, want a scrape interval more than 5m", o.Window)
	}
	thirty, err := targets.AtScrapeInterval(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if gap, down := thirty.Of(catalog.Objectives.CoverageGap), thirty.Of(catalog.Objectives.WatchDown); gap.Window != short || down.For != wait {
		t.Errorf("overrides do not stay: %v, %v", gap.Window, down.For)
	}
}
