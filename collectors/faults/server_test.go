//go:build faults

package faults

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

func connected(s metricstest.Snapshot) bool { return s["k8s_informer_watch_connected"] == 1 }

func disconnected(s metricstest.Snapshot) bool { return s["k8s_informer_watch_connected"] == 0 }

// The API server is killed and started again. The watch is resumed where it was.
func TestAPIServerKilled(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	r := newRig(t, options{plane: plane, direct: true})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	r.waitFor("the lag grows", func(s metricstest.Snapshot) bool { return disconnected(s) && s[syncLag] > 1 })
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.create("later")
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		refused := changed["k8s_informer_watch_disconnects_total{reason=refused}"]
		return reopened.with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=refused}":      refused,
			"sync_errors_total{error_type=refused}":        refused,
			"watch_events_total{type=added}":               1, "objects": 1, "event_lag_seconds_count": 1,
			"handler_duration_seconds_count{handler=h}": 1,
		})
	}, lastEvent, bookmarks)
	r.holds()
}

// etcd is put back to an older state: resourceVersions go back. kube-apiserver accepts a watch from a version that it
// has not reached yet, and the informer does not learn of anything that was undone: it is connected and wrong, until a
// full state comes, whose first attempt fails because the version is too large.
func TestEtcdRestored(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	r := newRig(t, options{plane: plane, direct: true})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.create("kept")
	backup := filepath.Join(t.TempDir(), "backup")
	if err := plane.Etcd.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := r.startBusy()
	for n := range 200 { // more than the API server writes of its own when it starts
		r.create(fmt.Sprint("lost-", n))
	}
	r.waitFor("the events", func(s metricstest.Snapshot) bool {
		lag := "k8s_informer_event_lag_seconds_count"
		return s["k8s_informer_objects"] == start["k8s_informer_objects"]+200 && s[lag] == start[lag]+200
	})
	before := r.now()
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := plane.Etcd.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.waitFor("connected", connected)
	r.create("unseen")
	resumed := func(changed metricstest.Snapshot) changes {
		refused := changed["k8s_informer_watch_disconnects_total{reason=refused}"]
		return reopened.with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=refused}":      refused,
			"sync_errors_total{error_type=refused}":        refused,
		})
	}
	wrong := r.expectThat(before, resumed, lastEvent, bookmarks)
	r.gate.stream(t).send(t, errorEvent(http.StatusGone, metav1.StatusReasonExpired))
	r.waitFor("the full state", func(s metricstest.Snapshot) bool { return s["k8s_informer_objects"] == 2 })
	r.expect(wrong, relisted("expired").with(changes{
		"watch_disconnects_total{reason=expired}": 1, "sync_errors_total{error_type=expired}": 1,
		"watch_events_total{type=error}":        2,
		"sync_errors_total{error_type=timeout}": 1, "sync_duration_seconds_count{result=fail}": 1,
		"objects": -200,
		// 201 that are gone, one unseen, one unchanged
		"event_lag_seconds_count": 202, "handler_duration_seconds_count{handler=h}": 203,
		"unchanged_updates_total{cause=relist}": 1, "resource_version_regressions_total": 1,
	}), lastEvent, lastSync, bookmarks)
	r.holds()
	right := r.now()
	r.create("seen")
	r.expect(right, changes{
		"watch_events_total{type=added}": 1, "objects": 1, "event_lag_seconds_count": 1,
		"handler_duration_seconds_count{handler=h}": 1,
	}, lastEvent, bookmarks)
}

// etcd is compacted while the watch is down. The API server has no watch cache here, so that nothing but etcd remembers
// what happened. Its 410 comes inside the stream.
func TestCompaction(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--watch-cache=false"}})
	r := newRig(t, options{plane: plane})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	r.create("listed", "deleted")
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("the watch is lost", disconnected)
	r.create("during")
	r.delete("deleted")
	if _, err := plane.Etcd.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.restore()
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		refused := changed["k8s_informer_watch_disconnects_total{reason=refused}"]
		return relisted("expired").with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=refused}":      refused,
			"sync_errors_total{error_type=refused}":        refused,
			"watch_disconnects_total{reason=expired}":      1,
			"sync_errors_total{error_type=expired}":        1,
			"watch_events_total{type=error}":               1,
			"watches_total":                                2, "watch_duration_seconds_count": 2, "coverage_gap_seconds_count": 2,
			"event_lag_seconds_count": 2, "handler_duration_seconds_count{handler=h}": 4,
			"unchanged_updates_total{cause=relist}": 2,
		})
	}, lastEvent, lastSync, bookmarks)
	r.holds()
}
