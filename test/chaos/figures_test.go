package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// logMark is a position in the log, by its offset.
type logMark struct{ offset int }

// logLine is a line of the log. A line without a message does not come from the logger, but for example from a panic.
type logLine struct{ text, level, message string }

func (p *program) logEnd() logMark {
	p.t.Helper()
	info, err := os.Stat(p.server.LogFile())
	if err != nil {
		p.t.Fatal(err)
	}
	return logMark{int(info.Size())}
}

// lines returns the log lines since a mark.
func (p *program) lines(since logMark) (lines []logLine) {
	p.t.Helper()
	content, err := os.ReadFile(p.server.LogFile())
	if err != nil {
		p.t.Fatal(err)
	}
	for text := range bytes.Lines(content[since.offset:]) {
		if !bytes.HasSuffix(text, []byte("\n")) {
			break // being written
		}
		var line struct{ Level, Msg string }
		_ = json.Unmarshal(text, &line) // other lines have no message
		lines = append(lines, logLine{strings.TrimSpace(string(text)), line.Level, line.Msg})
	}
	return lines
}

// countLines counts lines by message.
func countLines(lines []logLine) map[string]int {
	counts := map[string]int{}
	for _, l := range lines {
		counts[l.level+" "+l.message]++
	}
	return counts
}

// figures are the resource usage of the exporter.
type figures struct {
	at                            time.Time
	goroutines, resident, objects float64
	requests                      float64
	series                        map[string]bool
}

func (p *program) figures() figures {
	p.t.Helper()
	return figuresOf(p.look())
}

func figuresOf(now look) figures {
	f := figures{
		at: time.Now(), goroutines: now.value("go_goroutines"), resident: now.value("process_resident_memory_bytes"),
		objects: now.value("k8s_informer_objects"), requests: now.value("k8s_client_requests_total"), series: map[string]bool{},
	}
	for key, s := range now {
		if s.name != "state" {
			f.series[key] = true
		}
	}
	return f
}

func (f figures) String() string {
	return fmt.Sprintf("%.0f goroutines, %.1f MiB resident, %d series, %.0f objects, %.0f requests so far", f.goroutines, f.resident/(1<<20), len(f.series), f.objects, f.requests)
}

// bounded fails unless the exporter uses the same resources as before the fault: the same series, except for those that exist
// from their first use on, and the same number of goroutines, within a tolerance of one or two connections.
func (p *program) bounded(before figures) {
	p.t.Helper()
	const slack = 10
	p.until("the same resources as before", func(now look) error {
		after := figuresOf(now)
		for _, key := range slices.Sorted(maps.Keys(after.series)) {
			if !before.series[key] && !appears(key) {
				return fmt.Errorf("new series: %s", key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(before.series)) {
			if !after.series[key] && !appears(key) {
				return fmt.Errorf("missing series: %s", key)
			}
		}
		if after.goroutines > before.goroutines+slack {
			return fmt.Errorf("%v goroutines, %v before", after.goroutines, before.goroutines)
		}
		return nil
	})
	p.t.Logf("before: %v\nafter:  %v", before, p.figures())
}

// appears reports whether a series exists only after its first event: client requests, list pages, updates with the same
// generation, summaries, and counters with a closed set of values, except for values that exist at 0. An informer that is
// started again does not have these series yet.
func appears(key string) bool {
	name, set, _ := strings.Cut(key, ",")
	m, _ := catalog.ByName(name)
	if slices.ContainsFunc(m.AtZero, func(value string) bool { return strings.Contains(set, m.Labels[len(m.Labels)-1].Name+`="`+value+`"`) }) {
		return false
	}
	return m.Type == catalog.TypeSummary || strings.HasPrefix(name, "k8s_client_request") || name == catalog.InformerListPages.Name ||
		name == catalog.InformerSameGenerationUpdates.Name || name == catalog.ClientCompressedBytes.Name ||
		m.Type == catalog.TypeCounter && len(m.Labels[len(m.Labels)-1].Values) > 0
}

// quiet fails if more than a few lines per informer have been logged since the mark, regardless of the duration.
func (p *program) quiet(since logMark, each int) {
	p.t.Helper()
	informers := 0
	for _, s := range p.look() {
		if s.name == "state" {
			informers++
		}
	}
	counts := countLines(p.lines(since))
	total := 0
	var text strings.Builder
	for _, message := range slices.Sorted(maps.Keys(counts)) {
		total += counts[message]
		fmt.Fprintf(&text, "%6d %s\n", counts[message], message)
	}
	p.t.Logf("%d log lines with %d informers:\n%s", total, informers, &text)
	if limit := each*informers + 6; total > limit {
		p.t.Errorf("%d log lines, want at most %d", total, limit)
	}
}
