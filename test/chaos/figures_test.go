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
)

// logMark is a position in the log, by its offset.
type logMark struct{ offset int }

// logLine is a line of the log. A line without a message is not the logger's, such as one of a panic.
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

// figures are what the exporter costs.
type figures struct {
	at                            time.Time
	goroutines, resident, objects float64
	requests                      float64
	series                        map[string]bool
}

func (p *program) figures() figures {
	p.t.Helper()
	now := p.look()
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

// bounded fails unless the exporter costs what it did before the fault: the same series, except for requests by result,
// and as many goroutines, give or take a connection or two.
func (p *program) bounded(before figures) {
	p.t.Helper()
	const slack = 10
	p.until("as many goroutines as before", func(now look) error {
		if n := now.value("go_goroutines"); n > before.goroutines+slack {
			return fmt.Errorf("%v goroutines, %v before", n, before.goroutines)
		}
		return nil
	})
	after := p.figures()
	p.t.Logf("before: %v\nafter:  %v", before, after)
	for _, key := range slices.Sorted(maps.Keys(after.series)) {
		if !before.series[key] && !strings.HasPrefix(key, "k8s_client_requests_total,") && !strings.HasPrefix(key, "k8s_client_request_duration_seconds,") {
			p.t.Errorf("new series: %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before.series)) {
		if !after.series[key] {
			p.t.Errorf("missing series: %s", key)
		}
	}
}

// quiet fails if more has been logged since the mark than a few lines per informer, however long that was.
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
