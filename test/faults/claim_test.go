package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// row is a row of a table of docs/faults.md.
type row struct {
	says, alert, test string
}

// rows reads docs/faults.md.
func rows(t testing.TB) []row {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	ofFaults := false // not the faults of the demo, which have a table of other columns
	for line := range strings.Lines(string(table)) {
		if header := strings.HasPrefix(line, "| Fault | What the metrics say |"); header || !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| Fault |") {
			ofFaults = header
			continue
		}
		if !ofFaults || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 {
			t.Fatalf("%d cells instead of 4 in: %s", len(cells), line)
		}
		all = append(all, row{cells[1], cells[2], strings.TrimSpace(cells[3])})
	}
	return all
}

// claim is what a row says about a series: `name{label="value"}`, with a number behind it if it says how much the series
// changes (+1) or what it is (0), and with a "no" before it if it says that it does not change.
type claim struct {
	text   string
	metric string
	labels []string
	kind   kind
	value  float64
}

// kind is what a claim says of a series, or what was shown of it.
type kind int

const (
	// mentioned is that the series changes, or is something.
	mentioned kind = iota
	// changedBy is by how much it changes, and isNow what it is.
	changedBy
	isNow
	// unchanged is that it does not change.
	unchanged
)

var claimPattern = regexp.MustCompile("([Nn]o )?`([a-z_]+)(?:\\{([^`}]*)\\})?`(?: (\\+?)([0-9]+))?")

func (r row) claims() []claim {
	var all []claim
	for _, m := range claimPattern.FindAllStringSubmatch(r.says, -1) {
		c := claim{text: m[0], metric: prefix + m[2]}
		if m[3] != "" {
			c.labels = strings.Split(strings.ReplaceAll(m[3], `"`, ""), ",")
		}
		switch {
		case m[1] != "":
			c.kind = unchanged
		case m[4] != "":
			c.kind = changedBy
		case m[5] != "":
			c.kind = isNow
		}
		c.value, _ = strconv.ParseFloat(m[5], 64)
		all = append(all, c)
	}
	return all
}

func (c claim) String() string { return c.text }

// is tells whether the claim is about a series.
func (c claim) is(series string) bool {
	name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	m, _ := metric(c.metric)
	if m.Type == catalog.TypeHistogram {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")
	}
	have := strings.Split(labels, ",")
	return name == c.metric && !slices.ContainsFunc(c.labels, func(l string) bool { return !slices.Contains(have, l) })
}

func metric(name string) (catalog.Metric, bool) {
	all := catalog.All()
	at := slices.IndexFunc(all, func(m catalog.Metric) bool { return m.Name == name })
	if at < 0 {
		return catalog.Metric{}, false
	}
	return all[at], true
}
