package faults

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The API server is killed and restarted. The watch is resumed.
func TestAPIServerKilled(t *testing.T) {
	fault(t)
	plane := stacktest.Private(t, stack.Options{})
	r := newRig(t, options{server: plane.Config(), direct: true})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	r.is(r.waitUntilExceeds("sync_lag_seconds", 1), "watch_connected", 0)
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.create("later")
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return reopened.with(lostConnection(changed)).with(r.received(1))
	})
	r.waitedForBackoff(before, after)
	r.holds()
}

// etcd is restored to an older state: resource versions go backwards. kube-apiserver accepts a watch from a version that
// it has not reached yet, and the informer does not learn of undone writes: it is connected and wrong until a relist. The
// first attempt of the relist fails because the version is too large. Audits fail as well. Freshness checks are watches
// and do not detect the fault (S12).
func TestEtcdRestored(t *testing.T) {
	fault(t)
	const undone = 200 // more than the API server writes when it starts
	plane := stacktest.Private(t, stack.Options{})
	r := newRig(t, options{server: plane.Config(), direct: true, checks: collectors.Checks{Freshness: time.Second, Audit: time.Second}})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.create("kept")
	backup := filepath.Join(t.TempDir(), "backup")
	if err := plane.Etcd.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.startBusy()
	for n := range undone {
		r.create(fmt.Sprint("undone-", n))
	}
	before = r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return r.received(undone).with(checked(changed, fresh, consistent))
	})
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := plane.Etcd.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	connected := r.waitFor("connected", isConnected)
	r.create("unseen")
	r.waitUntilExceeds(fresh, connected[prefix+fresh]+1)
	r.waitUntilExceeds(unaudited, connected[prefix+unaudited])
	wrong := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return reopened.with(lostConnection(changed)).with(checked(changed, fresh, unanswered, unchecked, consistent, skipped, unaudited))
	})
	r.is(wrong, "watch_connected", 1)
	r.is(wrong, "sync_lag_seconds", 0)
	r.waitedForBackoff(before, wrong)
	r.expire()
	r.waitFor("the relist", func(s metricstest.Snapshot) bool { return s[objects] == 2 })
	r.expectThat(wrong, func(changed metricstest.Snapshot) changes {
		return relisted("expired").with(expired).with(checked(changed, fresh, unchecked, consistent, skipped, unaudited)).with(changes{
			"watch_events_total{type=error}":        2,
			"sync_errors_total{error_type=timeout}": 1, "sync_duration_seconds_count{result=error}": 1,
			"objects": -undone,
			// The missing objects: "busy", one never received, one unchanged.
			"event_lag_seconds_count": undone + 2, "handler_duration_seconds_count{handler=h}": undone + 3,
			"unchanged_updates_total{cause=relist}": 1, "resource_version_regressions_total": 1,
		})
	})
	r.holds()
	right := r.settle()
	r.create("seen")
	r.expectThat(right, func(changed metricstest.Snapshot) changes {
		return r.received(1).with(checked(changed, fresh, consistent))
	})
}

// etcd is compacted while the watch is down. The API server has no watch cache here, so that only etcd has the history.
// Its 410 comes inside the stream.
func TestCompaction(t *testing.T) {
	fault(t)
	plane := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--watch-cache=false"}})
	r := newRig(t, options{server: plane.Config()})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.create("listed", "deleted")
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("the watch is lost", isDisconnected)
	r.create("during")
	r.delete("deleted")
	if _, err := plane.Etcd.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.restore()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return relisted("expired").with(expired).with(lostConnection(changed)).with(changes{
			"watch_events_total{type=error}": 1,
			"watches_total":                  2, "watch_duration_seconds_count": 2, "coverage_gap_seconds_count": 2,
			"event_lag_seconds_count": 2, "handler_duration_seconds_count{handler=h}": 4,
			"unchanged_updates_total{cause=relist}": 2,
		})
	})
	r.waitedForBackoff(before, after)
	r.holds()
}
