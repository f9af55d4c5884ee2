package informer

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

var _ core.Part = &registry{}

// Collect implements core.Part.
func (r *registry) Collect(ch chan<- prometheus.Metric) {
	members := map[*metrics][]*informer{}
	informers := r.informers.Owners()
	readStores(informers)
	for _, inf := range informers {
		members[inf.metrics] = append(members[inf.metrics], inf)
	}
	for m, informers := range members {
		collect(ch, m, informers)
	}
	if r.ran.Load() && !slices.ContainsFunc(informers, func(inf *informer) bool { return inf.running.Load() != nil }) {
		r.Metrics.Scope().SendGauge(ch, catalog.InformerEnded, 1)
	}
}

// collect sends the metrics of the informers with the same labels that are computed at scrape time. Several informers are
// reported as one: counts are summed, and the worst state is reported.
func collect(ch chan<- prometheus.Metric, m *metrics, informers []*informer) {
	send := func(metric catalog.Gauge, value float64, more ...string) {
		m.scope.SendGauge(ch, metric, value, more...)
	}
	if hits, misses := m.reads.Hits(), m.reads.Misses(); hits+misses > 0 { // the hit ratio needs both
		m.scope.SendCounter(ch, catalog.InformerCacheHits, float64(hits))
		m.scope.SendCounter(ch, catalog.InformerCacheMisses, float64(misses))
	}
	total, orphans, unequal := total(informers)
	if total.Started { // a standby replica may have informers that are not started; they have no state
		send(catalog.InformerSynced, core.Bool(total.Synced))
	}
	if total.Started && total.Connection {
		send(catalog.InformerWatchConnected, core.Bool(total.Connected))
	}
	if total.Connection {
		send(catalog.InformerSyncLag, total.SyncLag.Seconds())
		if total.Stored != 0 {
			send(catalog.InformerStoreLag, total.storeLag.Seconds())
		}
		send(catalog.InformerLastEventTimestamp, core.Unix(total.LastEvent))
		if !total.WatchOpened.IsZero() {
			send(catalog.InformerWatchOpened, core.Unix(total.WatchOpened))
		}
		if total.Failures > 0 {
			send(catalog.InformerFailures, float64(total.Failures))
		}
		send(catalog.InformerResourceVersion, digits(total.Received), stageReceived)
	}
	if total.Started {
		send(catalog.InformerDegraded, core.Bool(total.Degraded))
	}
	send(catalog.InformerObjects, float64(total.Objects))
	send(catalog.InformerLastSyncDuration, total.LastSync.Seconds())
	send(catalog.InformerHandlers, float64(len(total.Handlers)))
	send(catalog.InformerResourceVersion, digits(total.Stored), stageStored)
	send(catalog.InformerResourceVersion, digits(total.Handled), stageHandled)
	if unequal > 1 {
		send(catalog.InformerResyncPeriods, float64(unequal))
	}
	if slices.ContainsFunc(informers, func(inf *informer) bool { return inf.functions.Transforms() }) {
		send(catalog.InformerTransforms, 1)
	}
	if n := duplicates(informers); n > 0 {
		send(catalog.InformerDuplicates, float64(n))
	}
	if orphans > 0 {
		send(catalog.InformerOrphans, float64(orphans))
	}
	if found, audited := differences(informers); audited {
		for _, difference := range catalog.InformerAuditDifferences.Values("difference") {
			if n := found[difference]; n > 0 || slices.Contains(catalog.InformerAuditDifferences.AtZero, difference) {
				send(catalog.InformerAuditDifferences, float64(n), difference)
			}
		}
	}
	for part, n := range bytes(informers) {
		send(catalog.InformerCacheBytes, n, part)
	}
	for name, h := range byName(total.Handlers) {
		send(catalog.InformerHandlerPending, float64(h.Pending), name)
		if !h.LastResync.IsZero() {
			send(catalog.InformerHandlerLastResync, core.Unix(h.LastResync), name)
		}
		if h.ResyncPeriod >= 0 {
			send(catalog.InformerHandlerResyncPeriod, h.ResyncPeriod.Seconds(), name)
		}
	}
}

// periods returns the number of different resync periods that are known.
func periods(handlers []HandlerStatus) int {
	distinct := map[time.Duration]struct{}{}
	for _, h := range handlers {
		if h.ResyncPeriod >= 0 {
			distinct[h.ResyncPeriod] = struct{}{}
		}
	}
	return len(distinct)
}

// duplicates returns the number of informers beyond one for each ID. Informers that share the label other have
// different IDs.
func duplicates(informers []*informer) int {
	distinct := map[ID]struct{}{}
	for _, inf := range informers {
		distinct[inf.id] = struct{}{}
	}
	return len(informers) - len(distinct)
}

// differences returns the number of differences that two audits have found, by type, and reports whether an audit has
// completed.
func differences(informers []*informer) (found map[string]int, audited bool) {
	found = map[string]int{}
	for _, inf := range informers {
		audited = inf.checks.AddDifferences(found) || audited
	}
	return found, audited
}

// bytes returns the estimated memory of caches by part, none before the first estimate.
func bytes(informers []*informer) map[string]float64 {
	all := map[string]float64{}
	for _, inf := range informers {
		inf.checks.AddBytes(all)
	}
	return all
}

// total returns the combined state of informers with all handlers, the number of orphaned informers, and the largest number of
// different resync periods in one informer.
func total(informers []*informer) (total Status, orphans, unequal int) {
	for i, inf := range informers {
		s := inf.status()
		if i == 0 {
			total = s
		} else {
			// An informer that was not started has no state yet. Without an observed connection, the state is unknown.
			total.Synced = (total.Synced || !total.Started) && (s.Synced || !s.Started)
			total.Connected = (total.Connected || !total.Started || !total.Connection) && (s.Connected || !s.Started || !s.Connection)
			total.Started = total.Started || s.Started
			total.Connection = total.Connection || s.Connection
			total.Objects += s.Objects
			total.Degraded = total.Degraded || s.Degraded
			total.Failures = max(total.Failures, s.Failures)
			if total.WatchOpened.IsZero() || !s.WatchOpened.IsZero() && s.WatchOpened.Before(total.WatchOpened) {
				total.WatchOpened = s.WatchOpened
			}
			total.SyncLag = max(total.SyncLag, s.SyncLag)
			total.storeLag = max(total.storeLag, s.storeLag)
			total.LastSync = max(total.LastSync, s.LastSync)
			total.Received = least(total.Received, s.Received)
			total.Stored = least(total.Stored, s.Stored)
			total.Handled = least(total.Handled, s.Handled)
			if s.LastEvent.After(total.LastEvent) {
				total.LastEvent = s.LastEvent
			}
			total.Handlers = append(total.Handlers, s.Handlers...)
		}
		if s.Orphaned {
			orphans++
		}
		unequal = max(unequal, periods(s.Handlers))
	}
	return total, orphans, unequal
}

// least returns the lower of two versions, where 0 means none.
func least(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// byName merges handlers with the same name: it sums pending events, and takes the longest resync period and the oldest
// resync.
func byName(handlers []HandlerStatus) map[string]HandlerStatus {
	merged := make(map[string]HandlerStatus, len(handlers))
	for _, h := range handlers {
		if known, ok := merged[h.Name]; ok {
			h.Pending += known.Pending
			h.ResyncPeriod = max(h.ResyncPeriod, known.ResyncPeriod)
			if known.LastResync.Before(h.LastResync) {
				h.LastResync = known.LastResync
			}
		}
		merged[h.Name] = h
	}
	return merged
}

// digits returns the 15 least significant decimal digits of a version, like client-go's informer_store_resource_version. A
// float64 holds them exactly.
func digits(version uint64) float64 {
	return float64(version % 1_000_000_000_000_000)
}
