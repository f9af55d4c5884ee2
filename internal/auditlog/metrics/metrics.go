// Package metrics exports what an audit log shows of clients.
package metrics

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
)

// Series is the default limit on the series of clients.
const Series = 5000

// Tracker is a clients.Tracker.
type Tracker interface {
	Latest() clients.Snapshot
}

// Collector is a prometheus.Collector. It is safe for concurrent use. A scrape takes a snapshot of the tracker, which costs a few
// milliseconds for 500 clients.
type Collector struct {
	// Malformed and Dropped count events that could not be decoded, and lines and batches that could not be read.
	Malformed, Dropped atomic.Uint64

	tracker  Tracker
	outcomes map[string]*atomic.Uint64

	mu       sync.Mutex
	limit    limit
	baseline map[string]value
	events   clients.Snapshot // of the baseline, for its counts of events
}

// New returns a Collector for a tracker, with at most a number of series of clients.
func New(tracker Tracker, series int) *Collector {
	c := &Collector{tracker: tracker, outcomes: map[string]*atomic.Uint64{}, limit: newLimit(series)}
	for _, outcome := range catalog.AuditWebhookRequests.AtZero {
		c.outcomes[outcome] = new(atomic.Uint64)
	}
	return c
}

// Outcome counts a request to the webhook. Outcomes that the catalog does not have are not counted.
func (c *Collector) Outcome(outcome string) {
	if count := c.outcomes[outcome]; count != nil {
		count.Add(1)
	}
}

// Rebase makes all counters start at 0: what the tracker knows so far is from before the start of the process, which had counted it
// then.
func (c *Collector) Rebase() {
	snapshot := c.tracker.Latest()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.baseline, c.events = totals(snapshot).counted(), snapshot
	c.Malformed.Store(0)
	c.Dropped.Store(0)
}

// descs are the descriptions of all metrics, by name.
var descs = func() map[string]*prometheus.Desc {
	list := map[string]*prometheus.Desc{}
	for _, m := range catalog.All() {
		if strings.HasPrefix(m.Name, "k8s_audit_") {
			list[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil)
		}
	}
	return list
}()

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descs {
		to <- d
	}
}

// Collect implements prometheus.Collector. Metrics hold at the time of the newest event: clocks may differ, and an old log says nothing
// about the present.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	snapshot := c.tracker.Latest()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pipeline(snapshot, to)
	all := totals(snapshot)
	for id, s := range all {
		s.subtract(c.baseline[id])
	}
	for _, s := range c.limit.apply(all) {
		to <- s.metric()
	}
}

// pipeline exports what became of events.
func (c *Collector) pipeline(s clients.Snapshot, to chan<- prometheus.Metric) {
	send := func(m catalog.Metric, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(descs[m.Name], kind, v, labels...)
	}
	events, duplicates := s.Events-c.events.Events, s.Duplicates-c.events.Duplicates
	send(catalog.AuditEvents.Metric, prometheus.CounterValue, float64(events-duplicates), "observed")
	send(catalog.AuditEvents.Metric, prometheus.CounterValue, float64(duplicates), "duplicated")
	send(catalog.AuditEvents.Metric, prometheus.CounterValue, float64(c.Malformed.Load()), "malformed")
	send(catalog.AuditEvents.Metric, prometheus.CounterValue, float64(c.Dropped.Load()), "dropped")
	for outcome, count := range c.outcomes {
		send(catalog.AuditWebhookRequests.Metric, prometheus.CounterValue, float64(count.Load()), outcome)
	}
	newest := 0.0
	if !s.Last.IsZero() {
		newest = float64(s.Last.UnixMilli()) / 1000
	}
	send(catalog.AuditNewestEvent.Metric, prometheus.GaugeValue, newest)
}
