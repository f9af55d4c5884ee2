package e2e_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/value"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// missed is an alert that does not fire at a scrape interval, and why.
type missed struct{ alert, reason string }

// unseen are the alerts that do not fire at a scrape interval, by the row of the fault.
var unseen = map[time.Duration]map[string]missed{
	time.Minute: {
		"TestSlowList": {"InformerNotSynced", "two and a half minutes without a sync are two scrapes, and the alert waits for two minutes"},
	},
}

// TestRecordedFaultsAtOtherScrapeIntervals replays the recordings as they would have been scraped every 30 s and every minute, each
// row with another phase, with rules for these intervals. The same alerts fire as at 15 s, except for those in unseen.
func TestRecordedFaultsAtOtherScrapeIntervals(t *testing.T) {
	if testing.Short() {
		t.Skip("replays each recording twice")
	}
	for _, interval := range []time.Duration{30 * time.Second, time.Minute} {
		t.Run(catalog.FormatDuration(interval), func(t *testing.T) {
			rules := rulesFor(t, interval)
			for phase, row := range faultTable(t) {
				t.Run(row.test, func(t *testing.T) {
					t.Parallel()
					r := recorded(t, row.test)
					r = scrapedEvery(cut(r, phase%int(interval/r.Interval), r.Len()), interval)
					if not, ok := unseen[interval][row.test]; ok {
						is := func(alert string) bool { return alert == not.alert }
						row.meanwhile, row.afterwards = slices.DeleteFunc(slices.Clone(row.meanwhile), is), slices.DeleteFunc(slices.Clone(row.afterwards), is)
						t.Logf("%s is not expected: %s", not.alert, not.reason)
					}
					for _, problem := range row.compare(replay(t, r, rules), r) {
						t.Error(problem)
					}
				})
			}
		})
	}
}

// rulesFor writes the rules for a scrape interval.
func rulesFor(t *testing.T, interval time.Duration) string {
	t.Helper()
	targets, err := (catalog.Targets{}).AtScrapeInterval(interval)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := alerts.RuleFile(alerts.Config{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// scrapedEvery returns a recording with only some of its scrapes. A series that a scrape lacks becomes stale.
func scrapedEvery(r recording.Recording, interval time.Duration) recording.Recording {
	step := int(interval / r.Interval)
	r.Interval *= time.Duration(step)
	r.Series = slices.Clone(r.Series)
	for i, s := range r.Series {
		var values []float64
		there := false
		for at := 0; at < len(s.Values); at += step {
			v := s.Values[at]
			if math.IsNaN(v) {
				v = recording.Missing
				if there {
					v = recording.Stale
				}
			}
			there = !math.IsNaN(v)
			values = append(values, v)
		}
		r.Series[i].Values = values
	}
	return r
}

func TestScrapedEvery(t *testing.T) {
	missing, stale := recording.Missing, recording.Stale
	r := recording.Recording{Interval: 15 * time.Second, Series: []recording.Series{{Values: []float64{1, 2, 3, stale, missing, missing, missing, missing, 9}}}}
	got := scrapedEvery(r, 30*time.Second)
	want := []float64{1, 3, stale, missing, 9}
	if got.Interval != 30*time.Second || !slices.EqualFunc(got.Series[0].Values, want, func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) && value.IsStaleNaN(a) == value.IsStaleNaN(b)
	}) {
		t.Errorf("%v: %v, want %v", got.Interval, got.Series[0].Values, want)
	}
	if r.Interval != 15*time.Second || len(r.Series[0].Values) != 9 {
		t.Errorf("the recording itself changed: %v", r)
	}
}
