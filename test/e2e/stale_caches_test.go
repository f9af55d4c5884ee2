package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// staleCaches are the recordings of `go run ./record -behind`, with the alert of each and the target that it names, and an alert that is
// right as well. The programs do not have the library.
var staleCaches = map[string]struct {
	alert, instance string
	within          time.Duration // of the fault
	also            string
	least, most     float64 // of the alert's value at its worst, in seconds
}{
	// A Deployment of which the frozen cache does not have the new status.
	"frozen": {"ClusterWatchCacheFrozen", "second-exporter:9958", 5 * time.Minute, "ClusterGenerationLag", 700, 800},
	// Writes that make controllers skip hundreds of syncs with a healthy watch. The API server ended watches that were too slow for them.
	"burst": {also: "ClusterWatchersTerminated"},
	// The same with kube-controller-manager 1.37; older ones do not report the versions of their caches.
	"busy": {also: "ClusterWatchersTerminated"},
	// Controllers of 1.37 that act late, or not at all.
	// The proxy delays both ways by two minutes: a watch is that late, and one that is renewed late by three times as much.
	"delayed": {"ControllerCacheBehind", "kube-controller-manager:10257", 5 * time.Minute, "ClusterGenerationLag", 90, 300},
	"cut":     {"ControllerCacheBehind", "kube-controller-manager:10257", 5 * time.Minute, "ClusterGenerationLag", 600, 600},
}

// TestStaleCaches evaluates every rule on recordings of real servers with stale caches, without the library: the alert of the fault fires
// in time, for the right target, and ends; no other does.
func TestStaleCaches(t *testing.T) {
	for name, want := range staleCaches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join("testdata", "caches", name+".yaml.gz"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := recording.UnmarshalCompressed(content)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := time.Duration(r.Phase(recording.During))*r.Interval, time.Duration(r.Phase(recording.After))*r.Interval
			last, first, worst := time.Duration(r.Len()-1)*r.Interval, time.Duration(0), 0.0
			for _, a := range firedAlerts(t, r, rulesFile) {
				switch a.labels.Get(model.AlertNameLabel) {
				case want.alert:
				case want.also:
					continue
				default:
					t.Errorf("fires: %v", a)
					continue
				}
				if first == 0 {
					first = a.from
				}
				worst = max(worst, a.most)
				if a.from < begin || a.from > end || a.to < end-evaluation || a.to > last-evaluation {
					t.Errorf("fires from %v to %v, want after %v, until about %v", a.from, a.to, begin, end)
				}
				if got := a.labels.Get(model.InstanceLabel); got != want.instance {
					t.Errorf("%s names the target %q, want %q", want.alert, got, want.instance)
				}
			}
			if want.alert == "" {
				return
			}
			if after := first - begin; first == 0 || after > want.within {
				t.Errorf("%s fires %v after the fault, want %v", want.alert, after, want.within)
			} else {
				t.Logf("%s fires %v after the fault, at most with %v s", want.alert, after, worst)
			}
			if worst < want.least || worst > want.most {
				t.Errorf("%s has at most the value %v, want %v to %v", want.alert, worst, want.least, want.most)
			}
		})
	}
}
