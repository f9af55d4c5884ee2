package catalog_test

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 72 * time.Hour: "3d", 36 * time.Hour: "1d12h", 120 * time.Millisecond: "120ms",
	} {
		if got := catalog.FormatDuration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestGoal(t *testing.T) {
	for want, o := range map[string]catalog.Objective{
		"at most 5s":         catalog.Objectives.SyncLag,
		"at most 120ms":      catalog.Objectives.HandlerDuration,
		"at most 500ms":      catalog.Objectives.CoverageGap,
		"at most 1%":         catalog.Objectives.ListWatchErrors,
		"at most 10/min":     catalog.Objectives.WatchDisconnects,
		"99% within 5s":      catalog.Objectives.EventLag,
		"always 1":           catalog.Objectives.NotSynced,
		"none":               catalog.Objectives.HandlerPanics,
		"below 4":            catalog.Objectives.LeaderChanges,
		"at most 0.0001s":    {Threshold: .0001, Unit: "s"},
		"at most 0.0000001s": {Threshold: 1e-7, Unit: "s"},
		"at least 0.995":     {Threshold: .995, Below: true},
		"99.9% within 2m30s": {Threshold: 150, Unit: "s", Quantile: .999, BurnRates: catalog.Objectives.EventLag.BurnRates},
	} {
		if got := o.Goal(); got != want {
			t.Errorf("%s: %q, want %q", o.ID, got, want)
		}
	}
	if got := catalog.Objectives.EventLag.Budget(); got != "1%" {
		t.Errorf("budget %q, want 1%%", got)
	}
}
