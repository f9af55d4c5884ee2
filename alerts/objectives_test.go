package alerts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// A changed threshold changes the expressions of its own alert, and no others.
func TestObjectivesReachTheRules(t *testing.T) {
	before := rules(alerts.Config{})
	for _, o := range catalog.Objectives.All() {
		if o.Fixed {
			continue
		}
		threshold := 77.0
		switch {
		case o.Quantile > 0:
			threshold = o.Metric.Buckets[0]
		case o.Unit == "percentunit":
			threshold = .77
		}
		targets, err := catalog.NewTargets(map[string]catalog.Override{o.ID: {Threshold: &threshold}})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rules(alerts.Config{Targets: targets}) {
			own := strings.Contains(r.Expr, "k8s_informer_event_lag_seconds_bucket") && o.ID == catalog.Objectives.EventLag.ID
			if a, ok := alerts.ByName(r.Alert); ok && o.BurnRates == nil {
				own = a.Objective.ID == o.ID
			}
			if changed := r.Expr != before[i].Expr; changed != own {
				t.Errorf("%s: %s%s changed: %v, want %v", o.ID, r.Alert, r.Record, changed, own)
			}
		}
	}
}

// TestWindowsReachTheRules: rules use every window that can be changed. Otherwise, the setting would have no effect.
func TestWindowsReachTheRules(t *testing.T) {
	window, changed := 7*time.Minute, 0
	for _, o := range catalog.Objectives.All() {
		targets, err := catalog.NewTargets(map[string]catalog.Override{o.ID: {Window: &window}})
		if err != nil || o.ID == catalog.Objectives.ReconcileDuration.ID { // no rule by default
			continue
		}
		changed++
		if !slices.ContainsFunc(rules(alerts.Config{Targets: targets}), func(r alerts.Rule) bool {
			return strings.Contains(r.Expr, "[7m]") || strings.Contains(r.Expr, "offset 7m") || strings.Contains(r.Expr, "time() - 420")
		}) {
			t.Errorf("%s: no rule has the window", o.ID)
		}
	}
	if changed < 10 {
		t.Errorf("only %d windows can be changed", changed)
	}
}

// rangeOf matches the ranges of an expression, with or without the step of a subquery.
var rangeOf = regexp.MustCompile(`\[([0-9a-z]+)(?::[0-9a-z]+)?\]`)

// Rules for a scrape interval span enough scrapes, and a single sample fires no alert.
func TestScrapeIntervalReachesTheRules(t *testing.T) {
	duration := func(text string) time.Duration {
		d, err := model.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(d)
	}
	for _, interval := range []time.Duration{5 * time.Second, catalog.DefaultScrapeInterval, 30 * time.Second, time.Minute, 2 * time.Minute} {
		targets, err := (catalog.Targets{}).AtScrapeInterval(interval)
		if err != nil {
			t.Fatal(err)
		}
		c := alerts.Config{Targets: targets, HandlerThresholds: map[string]float64{"h": 1}, Controllers: map[string]alerts.Controller{
			"c": {Targets: targets, Labels: map[string]string{"team": "t"}},
		}}
		for _, r := range rules(c) {
			for _, found := range rangeOf.FindAllStringSubmatch(r.Expr, -1) {
				d := duration(found[1])
				if strings.Contains(r.Expr, " * 300 / ") { // the range that the factor is for
					if d != 5*time.Minute+interval {
						t.Errorf("%v: %s has a range of %v", interval, r.Record, d)
					}
				} else if d < 4*interval {
					t.Errorf("%v: %s%s has a range of %v", interval, r.Record, r.Alert, d)
				}
			}
			if r.Alert == "" {
				continue
			}
			least := 2 * interval
			if r.Labels[alerts.MutesLabel] != "" {
				least = interval
			}
			if d := duration(r.For); d != 0 && d < least {
				t.Errorf("%v: %s waits for %v", interval, r.Alert, d)
			}
			if r.KeepFiringFor != "" && duration(r.KeepFiringFor) < 2*interval {
				t.Errorf("%v: %s keeps firing for %s", interval, r.Alert, r.KeepFiringFor)
			}
		}
		for _, a := range alerts.All() {
			for _, found := range rangeOf.FindAllStringSubmatch(string(alerts.RunbookPage(a, c)), -1) {
				if d, err := model.ParseDuration(found[1]); err == nil && d > 0 && time.Duration(d) < 4*interval {
					t.Errorf("%v: the runbook of %s has a range of %v", interval, a.Name, d)
				}
			}
		}
	}
}
