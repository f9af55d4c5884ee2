package metrics

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// value is the value of a series: of a counter or gauge, or the sum and counts of a summary or histogram.
type value struct {
	number float64
	count  uint64
	within [len(gapBounds)]uint64 // cumulative
}

// gapBounds are the buckets of catalog.AuditCoverageGap, which are bounds of clients.Histogram.
var gapBounds = [...]float64{.1, 1, 5, 30}

// series is a metric with its labels, of which the first is the client.
type series struct {
	of     catalog.Metric
	labels []string
	id     string // name and labels
	value
}

// size is the number of series in Prometheus.
func (s *series) size() int {
	switch s.of.Type {
	case catalog.TypeHistogram:
		return len(gapBounds) + 3
	case catalog.TypeSummary:
		return 2
	}
	return 1
}

// add adds the value of another series. Gauges of a state that is bad keep the worst.
func (s *series) add(v value) {
	if s.of.Name == catalog.AuditUnwatched.Name || s.of.Name == catalog.AuditHotLoopWrites.Name {
		s.number = max(s.number, v.number)
		return
	}
	s.number += v.number
	s.count += v.count
	for i := range s.within {
		s.within[i] += v.within[i]
	}
}

// subtract removes what was counted before. A client that was forgotten meanwhile has counted from 0 again.
func (s *series) subtract(v value) {
	if s.of.Type == catalog.TypeGauge || s.number < v.number || s.count < v.count {
		return
	}
	s.number -= v.number
	s.count -= v.count
	for i := range s.within {
		s.within[i] -= min(s.within[i], v.within[i])
	}
}

func (s *series) metric() prometheus.Metric {
	desc := descs[s.of.Name]
	switch s.of.Type {
	case catalog.TypeHistogram:
		buckets := map[float64]uint64{}
		for i, bound := range gapBounds {
			buckets[bound] = s.within[i]
		}
		return prometheus.MustNewConstHistogram(desc, s.count, s.number, buckets, s.labels...)
	case catalog.TypeSummary:
		return prometheus.MustNewConstSummary(desc, s.count, s.number, nil, s.labels...)
	case catalog.TypeGauge:
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.number, s.labels...)
	}
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.number, s.labels...)
}

// set is a set of series by their id.
type set map[string]*series

func (t set) add(m catalog.Metric, v value, labels ...string) {
	id := m.Name + "\xff" + strings.Join(labels, "\xff")
	s := t[id]
	if s == nil {
		s = &series{of: m, labels: labels, id: id}
		t[id] = s
	}
	s.add(v)
}

// rank is lower for what a client has once.
func (s *series) rank() int {
	if s.of.Name == catalog.AuditRequests.Name {
		return 0
	}
	return 1
}

// counted returns the values of counters.
func (t set) counted() map[string]value {
	values := map[string]value{}
	for id, s := range t {
		if s.of.Type != catalog.TypeGauge {
			values[id] = s.value
		}
	}
	return values
}

// sorted returns the series in the order in which limits admit them, the same in each scrape: by client, first its requests, then one
// informer after the other.
func (t set) sorted() []*series {
	list := make([]*series, 0, len(t))
	for _, s := range t {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *series) int {
		return cmp.Or(cmp.Compare(a.labels[0], b.labels[0]), cmp.Compare(a.rank(), b.rank()), slices.Compare(a.labels, b.labels), cmp.Compare(a.of.Name, b.of.Name))
	})
	return list
}

// name returns the value of the label client.
func name(c clients.Client) string {
	agent, _, _ := strings.Cut(c.Agent, "/")
	if c.User == clients.Other || agent == "" {
		return text(c.User)
	}
	return text(c.User + "/" + agent)
}

// text limits the length of a label's value that a client chose.
func text(s string) string { return bounded.Text(strings.ToValidUTF8(s, "?")) }

// hotFor is how long after its last busy minute a hot loop is reported: until the next minute can be busy, but so that the alert, which
// waits for three minutes, is silent for a single one.
const hotFor = 90 * time.Second

// totals returns the series of a snapshot without limits.
func totals(s clients.Snapshot) set {
	t := set{}
	for _, c := range s.Clients {
		client := name(c)
		for of, n := range c.Requests {
			t.add(catalog.AuditRequests.Metric, number(n), client, closed(catalog.AuditRequests.Metric, "verb", of.Verb), closed(catalog.AuditRequests.Metric, "code", of.Class))
		}
		for of, n := range c.Conflicts {
			subresource := closed(catalog.AuditConflicts.Metric, "subresource", cmp.Or(of.Subresource, "none"))
			t.add(catalog.AuditConflicts.Metric, number(n), client, text(of.Resource), subresource)
		}
		for _, loop := range c.HotLoops {
			if s.Last.Sub(loop.Last) <= hotFor {
				t.add(catalog.AuditHotLoopWrites.Metric, value{number: float64(loop.Writes)}, client, text(loop.Resource))
			}
		}
		for _, i := range c.Informers {
			t.informer(client, i)
		}
	}
	return t
}

// informer adds what a client watches. Selectors are not told apart.
func (t set) informer(client string, i clients.Informer) {
	labels := []string{client, text(i.Resource), cmp.Or(text(i.Namespace), "*")}
	with := func(last string) []string { return append(slices.Clone(labels), last) }
	counts := func(m catalog.Metric, values map[string]uint64) {
		of := m.Labels[len(m.Labels)-1]
		for v, n := range values {
			if slices.Contains(of.Values, v) {
				t.add(m, number(n), with(v)...)
			}
		}
	}
	if i.Opened > 0 || i.Open > 0 || len(i.Ends) > 0 { // not for a client that only lists
		t.add(catalog.AuditWatchesOpen.Metric, value{number: float64(i.Open)}, labels...)
		t.add(catalog.AuditWatches.Metric, number(i.Opened), labels...)
		t.add(catalog.AuditUnwatched.Metric, value{number: i.UnwatchedFor.Seconds()}, labels...)
		for _, v := range catalog.AuditRelists.AtZero {
			t.add(catalog.AuditRelists.Metric, value{}, with(v)...)
		}
	}
	counts(catalog.AuditWatchEnds.Metric, i.Ends)
	counts(catalog.AuditRelists.Metric, i.Relists)
	counts(catalog.AuditLists.Metric, i.Lists)
	if i.Gaps.Count > 0 {
		t.add(catalog.AuditCoverageGap.Metric, histogram(i.Gaps), labels...)
	}
	if i.ListDurations.Count > 0 {
		t.add(catalog.AuditListDuration.Metric, histogram(i.ListDurations), labels...)
	}
	if i.FirstEvents.Count > 0 {
		t.add(catalog.AuditFirstEventDuration.Metric, histogram(i.FirstEvents), labels...)
	}
}

func number(n uint64) value { return value{number: float64(n)} }

// histogram returns the sum and counts of durations.
func histogram(h clients.Histogram) value {
	v := value{number: h.Sum, count: h.Count}
	for i, bound := range gapBounds {
		for j, upper := range clients.Bounds() {
			if upper <= bound {
				v.within[i] += h.Counts[j]
			}
		}
	}
	return v
}

// closed returns a value of a closed set, or other.
func closed(m catalog.Metric, label, v string) string {
	if slices.Contains(m.Values(label), v) {
		return v
	}
	return clients.Other
}
