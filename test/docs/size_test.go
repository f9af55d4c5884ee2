package docs

import (
	"regexp"
	"strings"
	"testing"
)

// budgets are the most words that each page may have. Pages without a budget do not exist.
var budgets = map[string]int{
	"docs/README.md": 350, "docs/quickstart-library.md": 350, "docs/quickstart-exporter.md": 350,
	"docs/instrumentation.md": 2100, "docs/tracing.md": 1050, "docs/concepts.md": 860, "docs/comparison.md": 560, "docs/versioning.md": 310,
	"docs/install.md": 600, "docs/exporter.md": 1400, "docs/high-availability.md": 1250, "docs/security.md": 1500, "docs/generator.md": 800,
	"docs/troubleshooting.md": 450, "docs/flags.md": 1600, "docs/dashboards.md": 900, "docs/alerting.md": 1150, "docs/on-call.md": 430,
	"docs/faults.md": 1800, "docs/detection.md": 1800, "docs/benchmarks.md": 1400, "docs/lint.md": 1100, "docs/audit-log.md": 700,
	"docs/dev/adding.md": 300, "docs/dev/testing.md": 900, "docs/dev/chaos.md": 1000, "docs/dev/decisions.md": 1850, "docs/dev/requirements.md": 2700,
	"deploy/metrics.md": 9550, "deploy/configuration.md": 900, "deploy/thresholds.md": 1650, "CHANGELOG.md": 900, "CONTRIBUTING.md": 650,
}

// Limits of all pages together, and of a cell of a table.
const (
	mostWords, mostLines, mostCell = 41_050, 2_070, 30
)

var cellEnd = regexp.MustCompile(` \|(?: |$)`)

// Pages and their tables stay short: to add a paragraph, shorten another.
func TestSize(t *testing.T) {
	all := pages(t)
	words, lines := 0, 0
	for path, page := range all {
		n := len(strings.Fields(page))
		most, ok := budgets[path]
		if n > most && ok {
			t.Errorf("%s has %d words, want at most %d: shorten it, or raise its budget in this file", path, n, most)
		}
		folder, name, _ := strings.Cut(path, "/")
		if folder == "docs" || folder == "deploy" || path == "CHANGELOG.md" {
			words += n
			if !ok {
				t.Errorf("%s has no budget", path)
			}
		}
		if folder == "docs" && !strings.Contains(name, "/") && name != "flags.md" && name != "faults.md" && name != "detection.md" { // generated references, like those in deploy
			lines += strings.Count(page, "\n")
		}
		for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
			if !strings.HasPrefix(line, "| ") {
				continue
			}
			for _, cell := range cellEnd.Split(strings.TrimSpace(line[1:]), -1) {
				if n := len(strings.Fields(cell)); n > mostCell {
					t.Errorf("%s: a cell has %d words, want at most %d: %s", path, n, mostCell, cell)
				}
			}
		}
	}
	for path := range budgets {
		if all[path] == "" {
			t.Errorf("%s has a budget and does not exist", path)
		}
	}
	if words > mostWords || lines > mostLines {
		t.Errorf("docs/, deploy/*.md and CHANGELOG.md have %d words, want at most %d; pages for users have %d lines, want at most %d: shorten them, or raise the budgets of this file", words, mostWords, lines, mostLines)
	}
}
