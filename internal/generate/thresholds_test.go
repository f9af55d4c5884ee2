package generate

import (
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// The page lists each objective once, by its alert, and a threshold of an article with its panel. Without an alert, the objective
// has no row.
func TestThresholdsPage(t *testing.T) {
	for _, config := range []string{"", "disabled: [InformerSyncLagHigh]\nobjectives: {queue_depth: {threshold: 77}}"} {
		c, err := ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		files, err := Files(c)
		if err != nil {
			t.Fatal(err)
		}
		page := string(files["thresholds.md"])
		for _, a := range alerts.All() {
			want := 0
			if c.alerts.Enabled(a) {
				want = 1
			}
			if n := strings.Count(page, runbook(a)); n != want {
				t.Errorf("%q: the page has %s %d times, want %d", config, a.Name, n, want)
			}
		}
		if config != "" && !strings.Contains(page, "Queue depth: at most 77 |") {
			t.Errorf("the page lacks the threshold of the configuration")
		}
		for line := range strings.Lines(page) {
			if cells := strings.Split(line, " | "); len(cells) == 5 && !strings.Contains(line, "---") && cells[3] != "panel" && !strings.Contains(cells[3], ": ") {
				t.Errorf("no panel: %s", line)
			}
		}
	}
}
