package faults

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fault marks a test as the proof of a row of docs/faults.md, and lets it run beside others. Once it is over, the test
// fails if the row says something that it has not shown.
func fault(t *testing.T) {
	t.Helper()
	proof(t)
	t.Parallel()
}

// proof is fault for a test that must be alone.
func proof(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		part := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
		if t.Failed() || t.Skipped() || part {
			return
		}
		for _, row := range rows(t) {
			if row.test != t.Name() {
				continue
			}
			for _, c := range row.claims() {
				if !c.holds(evidenceOf(t)) {
					t.Errorf("docs/faults.md says %s, which this test does not show", c)
				}
			}
		}
	})
}

// row is a row of a table of docs/faults.md.
type row struct {
	fault, says, alert, test string
}

// rows reads docs/faults.md.
func rows(t testing.TB) []row {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for line := range strings.Lines(string(table)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Fault |") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 {
			t.Fatalf("%d cells instead of 4 in: %s", len(cells), line)
		}
		all = append(all, row{strings.TrimSpace(cells[0]), cells[1], cells[2], strings.TrimSpace(cells[3])})
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

// kind is the kind of a claim or of a proof.
type kind int

const (
	mentioned kind = iota
	changedBy
	isNow
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
	if m.Kind == catalog.Histogram {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")
	}
	have := strings.Split(labels, ",")
	return name == c.metric && !slices.ContainsFunc(c.labels, func(l string) bool { return !slices.Contains(have, l) })
}

// holds tells whether a claim follows from what was shown.
func (c claim) holds(shown []evidence) bool {
	found := slices.ContainsFunc(shown, func(e evidence) bool {
		switch c.kind {
		case mentioned:
			return c.is(e.series)
		case unchanged:
			return c.is(e.series) && e.kind == changedBy
		default:
			return c.is(e.series) && e.kind == c.kind && e.value == c.value
		}
	})
	return found != (c.kind == unchanged)
}

func metric(name string) (catalog.Metric, bool) {
	all := catalog.All()
	at := slices.IndexFunc(all, func(m catalog.Metric) bool { return m.Name == name })
	if at < 0 {
		return catalog.Metric{}, false
	}
	return all[at], true
}

// evidence is what a test has shown about a series.
type evidence struct {
	series string
	kind   kind
	value  float64
}

// record holds the evidence by test.
var record = struct {
	sync.Mutex
	byTest map[string][]evidence
}{byTest: map[string][]evidence{}}

// shown notes what a test, or a part of it, has shown.
func shown(t testing.TB, series string, k kind, value float64) {
	test, _, _ := strings.Cut(t.Name(), "/")
	record.Lock()
	defer record.Unlock()
	record.byTest[test] = append(record.byTest[test], evidence{series, k, value})
}

func evidenceOf(t testing.TB) []evidence {
	record.Lock()
	defer record.Unlock()
	return slices.Clone(record.byTest[t.Name()])
}
