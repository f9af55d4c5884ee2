package recording_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

var start = time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)

func reads(t *testing.T, exprs ...string) recording.Reads {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	content := "groups:\n- rules:\n"
	for _, e := range exprs {
		content += "  - expr: '" + e + "'\n"
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recording.ReadBy(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var target = labels.FromStrings("job", "j", "instance", "i:1", "cluster", "c")

// TestRecorderStoresAsPrometheusDoes verifies what is kept of scrapes, and what is written.
func TestRecorderStoresAsPrometheusDoes(t *testing.T) {
	r := recording.NewRecorder("TestIt", start, 15*time.Second, reads(t, `rate(a_total[5m]) > 1`, `g{kind=~"x|y"} offset 1h`, `h_bucket{le="5.0"}`, "informer_exporter_build_info"))
	scrape := func(failed bool, lines ...string) {
		t.Helper()
		if err := r.Scraped(target, []byte(strings.Join(lines, "\n")+"\n"), failed); err != nil {
			t.Fatal(err)
		}
		r.Phase(recording.Before)
		r.Next()
	}
	scrape(false, `a_total 0`, `g{kind="x",job="own"} 0.12345`, `g{kind="z"} 1`, `other 1`, `informer_exporter_build_info{version="v1",goversion="go"} 1`)
	scrape(false, `a_total 1`, `g{kind="x",job="own"} 0.12345`, `# TYPE h histogram`, `h_bucket{le="5"} 2`, `h_bucket{le="10"} 3`)
	scrape(false, `a_total 2`, `g{kind="x",job="own"} 0.5`, `# TYPE h histogram`, `h_bucket{le="5"} 2`)
	scrape(true)
	scrape(true)
	scrape(false, `a_total 7`, `g{kind="y"} 1`)
	want := `# Recorded by ` + "`make record`" + `. See docs/faults.md.
evaluation_interval: 15s
tests:
- name: TestIt
  interval: 15s
  start_timestamp: 2026-11-22T01:02:03Z
  input_series:
  - series: 'a_total{cluster="c", instance="i:1", job="j"}'
    values: '0+1x2 stale _ 7'
  - series: 'g{cluster="c", instance="i:1", job="j", kind="y"}'
    values: '_x5 1'
  - series: 'g{cluster="c", instance="i:1", job="own", kind="x"}'
    values: '0.123x1 0.5 stale _x2'
  - series: 'h_bucket{cluster="c", instance="i:1", job="j", le="5.0"}'
    values: '_ 2x1 stale _x2'
  - series: 'informer_exporter_build_info{cluster="c", instance="i:1", job="j"}'
    values: '1 stale _x4'
  - series: 'recorded_fault{row="TestIt"}'
    values: '0x5'
  - series: 'up{cluster="c", instance="i:1", job="j"}'
    values: '1x2 0x1 1'
`
	got := r.Recording().Marshal()
	if string(got) != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

// TestFilesAreReadAsTheyWereWritten verifies that a file is read as it was written. Fractional steps are not written as a
// sequence, because promtool would round their sums.
func TestFilesAreReadAsTheyWereWritten(t *testing.T) {
	series := [][]float64{
		{0, 0, 0}, {1, 2, 3, 4, 4, 4}, {5, 4, 3, 2}, {0.1, 0.2, 0.3, 0.4}, {0.5, 1, 1.5, 2}, {recording.Missing, recording.Missing, 3, recording.Stale},
		{1}, {1, 2}, {recording.Stale, recording.Missing}, {-1, -3, -5, 0.25, 0.25}, {math.Inf(1), 0},
	}
	r := recording.Recording{Row: "TestIt", Start: start, Interval: time.Minute}
	for i, values := range series {
		r.Series = append(r.Series, recording.Series{
			Labels: labels.FromStrings(model.MetricNameLabel, "m", "n", string(rune('a'+i)), "quoted", `it's "so" \`), Values: values,
		})
	}
	got, err := recording.Unmarshal(r.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	if got.Row != r.Row || !got.Start.Equal(r.Start) || got.Interval != r.Interval || len(got.Series) != len(r.Series) {
		t.Fatalf("read %+v", got)
	}
	for i, s := range got.Series {
		same := slices.EqualFunc(s.Values, series[i], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a == b })
		if !same || !labels.Equal(s.Labels, r.Series[i].Labels) {
			t.Errorf("wrote %v %v, read %v %v", r.Series[i].Labels, series[i], s.Labels, s.Values)
		}
	}
}

func TestPhases(t *testing.T) {
	r := recording.NewRecorder("TestIt", start, time.Second, nil)
	for _, phase := range []float64{recording.Before, recording.Before, recording.During, recording.After} {
		r.Phase(phase)
		r.Next()
	}
	done := r.Recording()
	if begin, end := done.Phase(recording.During), done.Phase(recording.After); begin != 2 || end != 3 || done.Len() != 4 {
		t.Errorf("the fault begins at step %d and ends at %d of %d", begin, end, done.Len())
	}
}

// TestThinAndCompressed verifies that a compressed recording is read as it was written, and that only what rules read, and
// the phases, remain of it.
func TestThinAndCompressed(t *testing.T) {
	r := recording.NewRecorder(recording.Healthy, start, 15*time.Second, recording.Everything())
	if err := r.Scraped(target, []byte("a_total 1\nb 2\n"), false); err != nil {
		t.Fatal(err)
	}
	r.Phase(recording.Before)
	r.Next()
	content := r.Recording().MarshalCompressed()
	all, err := recording.UnmarshalCompressed(content)
	if err != nil || len(all.Series) != 4 || !slices.Equal(all.MarshalCompressed(), content) {
		t.Errorf("read %+v, %v", all, err)
	}
	var names []string
	for _, s := range recording.Thin(all, reads(t, "a_total > 1")).Series {
		names = append(names, s.Labels.Get(model.MetricNameLabel))
	}
	if !slices.Equal(names, []string{"a_total", recording.FaultSeries}) {
		t.Errorf("%q remain", names)
	}
}
