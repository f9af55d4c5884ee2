package faults

import (
	"maps"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// prefix is the prefix of all series of an informer. The tests and the table leave it out.
const prefix = "k8s_informer_"

// Series that tests read by name.
const (
	connected  = prefix + "watch_connected"
	eventLag   = prefix + "event_lag_seconds_count"
	lastEvent  = prefix + "last_event_timestamp_seconds"
	lastResync = prefix + "handler_last_resync_timestamp_seconds"
	lastSync   = prefix + "last_sync_duration_seconds"
	objects    = prefix + "objects"
	refused    = prefix + "watch_disconnects_total{reason=refused}"
	syncFailed = prefix + "sync_duration_seconds_count{result=error}"
	syncLag    = prefix + "sync_lag_seconds"
)

// Series that change at random: the API server sends bookmarks at any time, and versions are etcd's.
const (
	bookmarks = prefix + "watch_events_total{type=bookmark}"
	versions  = prefix + "resource_version{"
)

// changes are the changes of series under a fault.
type changes map[string]float64

// snapshot also adds changes that follow from others: each event also observes the propagation.
func (c changes) snapshot() metricstest.Snapshot {
	c = changes{
		"propagation_seconds_count": c["watch_events_total{type=added}"] + c["watch_events_total{type=modified}"],
	}.with(c)
	s := metricstest.Snapshot{}
	for series, value := range c {
		if value != 0 {
			s[prefix+series] = value
		}
	}
	return s
}

// with returns the changes with others, which take precedence.
func (c changes) with(others changes) changes {
	all := maps.Clone(c)
	maps.Copy(all, others)
	return all
}

// moments returns the gauges that follow from the changes but depend on time.
func (c changes) moments() []string {
	var moved []string
	for series := range c.snapshot() {
		switch name, label, _ := strings.Cut(strings.TrimPrefix(series, prefix), "{"); {
		case name == "watch_events_total", name == "list_items_count":
			moved = append(moved, lastEvent)
		case name == "sync_duration_seconds_count" && label == "result=success}":
			moved = append(moved, lastSync)
		}
	}
	return moved
}

// Changes that several faults have in common.
var (
	// reopened is the end of a watch and the start of the next one.
	reopened = changes{
		"watch_duration_seconds_count": 1, "coverage_gap_seconds_count": 1, "watches_total": 1,
	}
	// firstState is the initial list and the watch after it.
	firstState = changes{
		"list_duration_seconds_count": 1, "list_items_count": 1, "relists_total{reason=initial}": 1,
		"sync_duration_seconds_count{result=success}": 1, "synced": 1, "watches_total": 1, "watch_connected": 1,
	}
	// expired is a 410 for a watch.
	expired = changes{"watch_disconnects_total{reason=expired}": 1, "sync_errors_total{error_type=expired}": 1}
)

// relisted returns the changes of a relist after a lost watch, and of the next watch.
func relisted(reason string) changes {
	return reopened.with(changes{
		"list_duration_seconds_count": 1, "list_items_count": 1, "relists_total{reason=" + reason + "}": 1,
		"sync_duration_seconds_count{result=success}": 1,
	})
}

// counted returns the actual changes of some series, which depend on time.
func counted(changed metricstest.Snapshot, series ...string) changes {
	c := changes{}
	for _, s := range series {
		c[s] = changed[prefix+s]
	}
	return c
}

// checked counts results of freshness checks and audits. Those that compare the cache also have a duration.
func checked(changed metricstest.Snapshot, results ...string) changes {
	c := counted(changed, results...)
	c["audit_duration_seconds_count"] = c[consistent] + c[different]
	return c
}

// Results of checks.
const (
	fresh      = "freshness_checks_total{result=fresh}"
	lagging    = "freshness_checks_total{result=lagging}"
	unanswered = "freshness_checks_total{result=error}"
	unchecked  = "freshness_checks_total{result=skipped}"
	consistent = "audits_total{result=consistent}"
	different  = "audits_total{result=different}"
	unaudited  = "audits_total{result=error}"
	skipped    = "audits_total{result=skipped}"
)

// lostConnection returns the changes for a watch on a connection that was cut, including the refused attempts until the
// connection was restored.
func lostConnection(changed metricstest.Snapshot) changes {
	return changes{
		"watch_disconnects_total{reason=server_close}": 1,
		"watch_disconnects_total{reason=refused}":      changed[refused],
		"sync_errors_total{error_type=refused}":        changed[refused],
	}
}

// received returns the changes for n new objects: an event for each, and a call of each handler.
func (r *rig) received(n float64) changes {
	return r.handled(n).with(changes{"watch_events_total{type=added}": n, "objects": n})
}

// handled returns the changes for n events per handler.
func (r *rig) handled(n float64) changes {
	c := changes{"event_lag_seconds_count": n * float64(len(r.handlers))}
	for _, name := range r.handlers {
		c["handler_duration_seconds_count{handler="+name+"}"] = n
	}
	return c
}

// listed returns the changes for n objects of a list per handler, which are no events.
func (r *rig) listed(n float64) changes {
	return r.handled(n).with(changes{"event_lag_seconds_count": 0})
}
