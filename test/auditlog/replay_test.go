package auditlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/metrics"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
)

// part is a part of an audit log: from a start of programs or a fault.
type part []map[string]any

// parsePart reads lines of an audit log, without those of the test itself.
func parsePart(t *testing.T, text []byte) (p part) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"auditlog.test/`)) {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		p = append(p, e)
	}
	return p
}

const (
	receivedAt, stageAt, auditID = "requestReceivedTimestamp", "stageTimestamp", "auditID"
	layout                       = "2006-01-02T15:04:05.000000Z"
)

func timeOf(e map[string]any, field string) time.Time {
	text, _ := e[field].(string)
	at, _ := time.Parse(time.RFC3339, text) // the zero time is the earliest
	return at
}

// span returns the times of the first and last event.
func (p part) span() (first, last time.Time) {
	for _, e := range p {
		at := timeOf(e, stageAt)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

// after returns what happens if a part follows another and is repeated until it has lasted, each time stretched to a length unless that is
// 0. Faults that last for minutes need not be waited for.
func (p part) after(before part, length, lasts time.Duration) part {
	_, begin := before.span()
	first, last := p.span()
	begin = begin.Add(10 * time.Second)
	factor := 1.0
	if length > 0 {
		factor = float64(length) / float64(last.Sub(first))
	} else {
		length = last.Sub(first) + time.Second
	}
	all := slices.Clone(before)
	for n := range max(1, int(lasts/length)) {
		moved := func(at time.Time) string {
			// What was requested before the part counts as requested after the part before it, however long that was ago.
			since := max(at.Sub(first), -5*time.Second)
			if since > 0 {
				since = time.Duration(float64(since) * factor)
			}
			return begin.Add(time.Duration(n)*length + since).Format(layout)
		}
		for _, e := range p {
			again := map[string]any{}
			for key, v := range e {
				again[key] = v
			}
			again[receivedAt], again[stageAt] = moved(timeOf(e, receivedAt)), moved(timeOf(e, stageAt))
			if n > 0 { // the first is that of watches that were open before
				again[auditID] = fmt.Sprint(e[auditID], "-", n)
			}
			all = append(all, again)
		}
	}
	return all
}

// text returns the log in the order of its events.
func (p part) text(t *testing.T) []byte {
	t.Helper()
	slices.SortStableFunc(p, func(a, b map[string]any) int { return timeOf(a, stageAt).Compare(timeOf(b, stageAt)) })
	var b bytes.Buffer
	for _, e := range p {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// scrapes is the interval of scrapes, in the time of events.
const scrapes = 30 * time.Second

// series returns what Prometheus has scraped while a log was written, and for two minutes more.
func series(t *testing.T, log []byte) (all []promtool.Series, lasts time.Duration) {
	t.Helper()
	tracker := clients.New(clients.Options{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.New(tracker, metrics.Series))
	values, n := map[string][]string{}, 0
	scrape := func() {
		for _, s := range metricstest.Gather(t, registry) {
			pairs := []string{`cluster="eu"`, `instance="a"`, `job="audit"`}
			for _, label := range slices.Sorted(maps.Keys(s.Labels)) {
				pairs = append(pairs, fmt.Sprintf("%s=%q", label, s.Labels[label]))
			}
			name := s.Name + "{" + strings.Join(pairs, ",") + "}"
			for len(values[name]) < n {
				values[name] = append(values[name], "_")
			}
			values[name] = append(values[name], fmt.Sprint(s.Value))
		}
		n++
	}
	var next time.Time
	for line := range bytes.Lines(log) {
		var e event.Event
		if ok, _ := event.DecodeLine(bytes.TrimSpace(line), &e); !ok {
			t.Fatalf("not an event: %s", line)
		}
		if next.IsZero() {
			next = e.At
		}
		for !e.At.Before(next) {
			scrape()
			next = next.Add(scrapes)
		}
		tracker.Observe(&e)
	}
	for range 5 {
		scrape()
	}
	for name, v := range values {
		for len(v) < n {
			v = append(v, "_")
		}
		all = append(all, promtool.Series{Series: name, Values: strings.Join(v, " ")})
	}
	all = append(all, promtool.Series{Series: `process_start_time_seconds{cluster="eu",job="audit",instance="a"}`, Values: fmt.Sprintf("1x%d", n)})
	return all, time.Duration(n-1) * scrapes
}
