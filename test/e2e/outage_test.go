package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// TestOutageMutesOtherPagesWhileItLasts evaluates the generated rules on outages that begin at 2m, and asks Alertmanager's
// own code which pages are muted. A lock that still has no leader pages soon after the outage.
func TestOutageMutesOtherPagesWhileItLasts(t *testing.T) {
	for _, c := range []struct {
		name             string
		outage, noLeader time.Duration
		want             map[string]time.Duration // the latest time, after the start
	}{
		{"40s", 40 * time.Second, time.Minute, nil},
		{"40s, no leader", 40 * time.Second, time.Hour, map[string]time.Duration{"ControllerLeaderMissing": 6 * time.Minute}},
		{"3m20s", 200 * time.Second, 4 * time.Minute, map[string]time.Duration{"KubernetesAPIUnreachable": 5*time.Minute + 30*time.Second}},
		{"3m20s, no leader", 200 * time.Second, time.Hour, map[string]time.Duration{"KubernetesAPIUnreachable": 5*time.Minute + 30*time.Second, "ControllerLeaderMissing": 15 * time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := firstUnmuted(t, outageOf(t, c.outage, c.noLeader))
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want))) {
				t.Errorf("pages are %v, want %v", got, c.want)
			}
			for name, at := range got {
				if at > c.want[name] {
					t.Errorf("%s pages at %v, want at most %v", name, at, c.want[name])
				}
			}
		})
	}
}

// outageOf returns a recording of 20 minutes in which two programs have no watch and the lock of one has no leader for some time.
func outageOf(t *testing.T, outage, noLeader time.Duration) recording.Recording {
	t.Helper()
	const program, other = `cluster="eu", job="shop", instance="a", name="shop"`, `cluster="eu", job="other", instance="b", name="other"`
	const begin, interval = 8, 15 * time.Second
	values := func(before, during, change string, d time.Duration) string {
		n := int(d / interval)
		return fmt.Sprintf("%sx%d %s%sx%d %sx%d", before, begin-1, during, change, min(n, 70)-1, before, max(80-begin-n, 0))
	}
	r, err := recording.Unmarshal([]byte(strings.Join([]string{
		`evaluation_interval: 15s`, `tests:`, `- name: outage`, `  interval: 15s`, `  start_timestamp: 2026-01-01T00:00:00Z`, `  input_series:`,
		`  - {series: 'k8s_informer_watch_connected{` + program + `, informer_type="pods", watch_namespace="*"}', values: '` + values("1", "0", "", outage) + `'}`,
		`  - {series: 'k8s_informer_watch_connected{` + other + `, informer_type="pods", watch_namespace="*"}', values: '` + values("1", "0", "", outage) + `'}`,
		`  - {series: 'k8s_informer_sync_errors_total{` + program + `, informer_type="pods", watch_namespace="*", error_type="refused"}', values: '` + values("0", "1", "+1", outage) + `'}`,
		`  - {series: 'k8s_informer_sync_errors_total{` + other + `, informer_type="pods", watch_namespace="*", error_type="refused"}', values: '` + values("0", "1", "+1", outage) + `'}`,
		`  - {series: 'controller_leader{` + program + `, lock="shop/shop"}', values: '` + values("1", "0", "", noLeader) + `'}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// firstUnmuted returns, for each page of a recording, the first time at which no other alert mutes it.
func firstUnmuted(t *testing.T, r recording.Recording) map[string]time.Duration {
	t.Helper()
	all := firedAlerts(t, r, rulesFile)
	found := map[string]time.Duration{}
	for at := time.Duration(0); at < time.Duration(r.Len())*r.Interval; at += every * r.Interval {
		var firing []model.LabelSet
		for _, a := range all {
			if a.from <= at && at <= a.to {
				firing = append(firing, labelSet(a.labels))
			}
		}
		if len(firing) == 0 {
			continue
		}
		by := inhibitor(t, firing...)
		for _, set := range firing {
			name := string(set[model.AlertNameLabel])
			if _, already := found[name]; set["severity"] == model.LabelValue(catalog.Page) && !already && !by.Mutes(t.Context(), set) {
				found[name] = at
			}
		}
	}
	return found
}

func labelSet(from labels.Labels) model.LabelSet {
	set := model.LabelSet{}
	from.Range(func(l labels.Label) { set[model.LabelName(l.Name)] = model.LabelValue(l.Value) })
	return set
}
