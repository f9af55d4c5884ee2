package collectors

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// collect sends what a group reads at the time of the scrape. Where a program has several informers with the same
// labels, they are reported as one: what they hold is added up, and the worst state counts.
func (g groupView) collect(ch chan<- prometheus.Metric) {
	ch <- g.obs.vecs.total(catalog.InformerCacheHits, float64(g.hits.Load()), g.with()...)
	ch <- g.obs.vecs.total(catalog.InformerCacheMisses, float64(g.misses.Load()), g.with()...)
	send := func(m catalog.Gauge, value float64, more ...string) {
		ch <- g.obs.vecs.sample(m, value, g.with(more...)...)
	}
	if len(g.members) == 0 {
		return // the only one is being made, or has just ended
	}
	total, orphans := g.total()
	if total.Started { // a replica that waits to be elected has informers that are neither synced nor late
		send(catalog.InformerSynced, truth(total.Synced))
	}
	if total.Started && total.Connection {
		send(catalog.InformerWatchConnected, truth(total.Connected))
	}
	if total.Connection {
		send(catalog.InformerSyncLag, total.SyncLag.Seconds())
		send(catalog.InformerLastEventTimestamp, unix(total.LastEvent))
		send(catalog.InformerResourceVersion, digits(total.Received), catalog.StageReceived)
	}
	send(catalog.InformerObjects, float64(total.Objects))
	send(catalog.InformerLastSyncDuration, total.LastSync.Seconds())
	send(catalog.InformerHandlers, float64(len(total.Handlers)))
	send(catalog.InformerResourceVersion, digits(total.Stored), catalog.StageStored)
	send(catalog.InformerResourceVersion, digits(total.Handled), catalog.StageHandled)
	send(catalog.InformerDuplicates, float64(g.duplicates()))
	send(catalog.InformerOrphans, float64(orphans))
	if differences, audited := g.differences(); audited {
		for _, kind := range catalog.LabelDifference.Values {
			send(catalog.InformerAuditDifferences, float64(differences[kind]), kind)
		}
	}
	for name, h := range byName(total.Handlers) {
		send(catalog.InformerHandlerPending, float64(h.Pending), name)
		send(catalog.InformerHandlerLastResync, unix(h.LastResync), name)
		if h.ResyncPeriod >= 0 {
			send(catalog.InformerHandlerResyncPeriod, h.ResyncPeriod.Seconds(), name)
		}
	}
}

// duplicates returns how many members there are beyond one for each resource and namespace. Those that share their labels
// for want of room have nothing else in common.
func (g groupView) duplicates() int {
	distinct := map[ID]struct{}{}
	for _, inf := range g.members {
		distinct[inf.id] = struct{}{}
	}
	return len(g.members) - len(distinct)
}

// total returns the members' states as one, with the handlers of all, and how many members are orphans.
func (g groupView) total() (total InformerStatus, orphans int) {
	for i, inf := range g.members {
		s := inf.status()
		if i == 0 {
			total = s
		} else {
			// One that has not been started has no state yet, and one without a decorated connection has none to tell of.
			total.Synced = (total.Synced || !total.Started) && (s.Synced || !s.Started)
			total.Connected = (total.Connected || !total.Started || !total.Connection) && (s.Connected || !s.Started || !s.Connection)
			total.Started = total.Started || s.Started
			total.Connection = total.Connection || s.Connection
			total.Objects += s.Objects
			total.SyncLag = max(total.SyncLag, s.SyncLag)
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
	}
	return total, orphans
}

// least returns the lesser of two versions, where 0 is none.
func least(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// byName reports handlers with the same name as one: pending events are added up, and the longest wait for a resync
// counts.
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

// digits returns the 15 least significant decimal digits of a version, which a float64 holds exactly, as client-go's
// informer_store_resource_version does.
func digits(version uint64) float64 {
	return float64(version % 1_000_000_000_000_000)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unix returns seconds since the epoch, 0 for the zero time.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}
