//go:build faults

package faults

import (
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// 429 Too Many Requests for the list, as API priority and fairness answers. With Retry-After, client-go's REST client
// asks again and only the time shows it; without, each attempt is a failed list.
func TestThrottledList(t *testing.T) {
	t.Parallel()
	t.Run("with Retry-After", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{lists: true})
		r.create("object")
		r.gate.nextGet(2, isAnyList, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1))
		before := r.now()
		r.start()
		after := r.expect(before, firstState.with(changes{"objects": 1, "list_pages_total": 1}), lastEvent, lastSync, bookmarks)
		if took := after["k8s_informer_list_duration_seconds_sum"]; took < 2 {
			t.Errorf("the list took %v s, with two waits of a second", took)
		}
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		r.create("object")
		r.gate.nextGet(2, isAnyList, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, -1))
		before := r.now()
		r.start()
		r.expect(before, firstState.with(changes{
			"objects": 1, "sync_errors_total{error_type=throttled}": 2, "sync_duration_seconds_count{result=fail}": 2,
		}), lastEvent, lastSync, bookmarks)
	})
}

// The server answers 500 to the streaming list, to the LIST that client-go tries instead, and then recovers.
func TestServerErrorOnList(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.create("object")
	r.gate.nextGet(2, isAnyList, status(http.StatusInternalServerError, metav1.StatusReasonInternalError, -1))
	before := r.now()
	r.start()
	r.expect(before, firstState.with(changes{
		"objects": 1, "sync_errors_total{error_type=server}": 2, "sync_duration_seconds_count{result=fail}": 2,
	}), lastEvent, lastSync, bookmarks)
}

// denied lets an informer fail for lack of a permission, as class, until granted is called.
func denied(t *testing.T, r *rig, class string, granted func()) {
	t.Helper()
	r.create("object")
	before := r.now()
	r.start()
	failed := "k8s_informer_sync_errors_total{error_type=" + class + "}"
	s := r.waitFor(class, func(s metricstest.Snapshot) bool { return s[failed] >= 2 })
	if s["k8s_informer_synced"] != 0 || s["k8s_informer_watch_connected"] != 0 {
		t.Errorf("%s, and yet:\n%s", class, s)
	}
	granted()
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return firstState.with(changes{
			"objects": 1, "sync_errors_total{error_type=" + class + "}": changed[failed],
			"sync_duration_seconds_count{result=fail}": changed[failed],
			// The permission may come between the streaming list and the LIST that follows its failure.
			"list_pages_total": min(changed["k8s_informer_list_pages_total"], 1),
		})
	}, lastEvent, lastSync, bookmarks)
}

// An informer that may not list says so, and recovers when it may.
func TestForbidden(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{config: func(c *rest.Config) { c.Impersonate.UserName = "nobody" }})
	denied(t, r, "forbidden", func() { allow(t, r) })
}

func allow(t *testing.T, r *rig) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "nobody"}},
	}
	if _, err := r.client.RbacV1().Roles(r.namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.RbacV1().RoleBindings(r.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A token that the server does not accept, until it is replaced.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.gate.nextGet(0, isAnyList, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer expired")
		return next.RoundTrip(req)
	})
	denied(t, r, "unauthorized", r.gate.open)
}

// A list that takes 31 seconds, longer than the objective. While it lasts the informer is not synced; there is no error.
func TestSlowList(t *testing.T) {
	t.Parallel()
	const takes = 31 * time.Second
	r := newRig(t, options{})
	r.create("object")
	r.gate.nextGet(1, isAnyList, delayed(takes))
	before := r.now()
	r.start()
	r.waitFor("the request", func(metricstest.Snapshot) bool { return r.gate.spent() })
	r.expect(before, changes{})
	after := r.expect(before, firstState.with(changes{"objects": 1}), lastEvent, lastSync, bookmarks)
	for _, series := range []string{lastSync, "k8s_informer_list_duration_seconds_sum", "k8s_informer_sync_duration_seconds_sum{result=success}"} {
		if after[series] < takes.Seconds() {
			t.Errorf("%s = %v", series, after[series])
		}
	}
}

// A server, or an aggregated API, that does not know streaming lists rejects the option, and client-go uses LIST.
func TestStreamingListRejected(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.create("object")
	r.gate.nextGet(1, isStreamingList, status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, -1))
	before := r.now()
	r.start()
	r.expect(before, firstState.with(changes{
		"objects": 1, "list_pages_total": 1, "relists_total{reason=initial}": 0, "relists_total{reason=fallback}": 1,
		"sync_errors_total{error_type=other}": 1, "sync_duration_seconds_count{result=fail}": 1,
	}), lastEvent, lastSync, bookmarks)
}

// A full state with nothing new in it. Without a resync period, each handler is called for each object, as an update
// from an object to itself, and nothing counts as an event; with one, handlers whose resync is not due are spared.
func TestRelistOfUnchangedObjects(t *testing.T) {
	t.Parallel()
	const objects = 5
	relist := relisted("expired").with(changes{
		"watch_disconnects_total{reason=expired}": 1, "sync_errors_total{error_type=expired}": 1,
		"watch_events_total{type=error}": 1,
	})
	t.Run("without resync", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		r.create("1", "2", "3", "4", "5")
		r.handle("h", cache.ResourceEventHandlerFuncs{})
		before := r.startBusy()
		r.gate.stream(t).send(t, errorEvent(http.StatusGone, metav1.StatusReasonExpired))
		after := r.expect(before, relist.with(changes{"handler_duration_seconds_count{handler=h}": objects + 1, "unchanged_updates_total{cause=relist}": objects + 1}), lastEvent, lastSync, bookmarks)
		if items := after["k8s_informer_list_items_sum"] - before["k8s_informer_list_items_sum"]; items != objects+1 {
			t.Errorf("%v items in the relist", items)
		}
	})
	t.Run("with resync", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{resync: time.Hour})
		r.create("1", "2", "3", "4", "5")
		r.handle("never", cache.ResourceEventHandlerFuncs{})
		if _, err := r.informer.AddEventHandlerWithResyncPeriod(collectors.NamedHandler("often", cache.ResourceEventHandlerFuncs{}), time.Second); err != nil {
			t.Fatal(err)
		}
		const often = "k8s_informer_handler_duration_seconds_count{handler=often}"
		started := r.startBusy()
		before := r.waitFor("a resync", func(s metricstest.Snapshot) bool { return s[often] >= started[often]+objects+1 })
		r.gate.stream(t).send(t, errorEvent(http.StatusGone, metav1.StatusReasonExpired))
		r.expect(before, relist.with(changes{"unchanged_updates_total{cause=relist}": objects + 1}), lastEvent, lastSync, bookmarks, often, "k8s_informer_unchanged_updates_total{cause=resync}", sinceResync)
	})
}

// An object is deleted, one is created and one is changed while the watch is down, and a full state comes instead of the
// events: the handler gets a DeletedFinalStateUnknown, and the calls count as late since the end of the list.
func TestDeleteMissedDuringAGap(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.create("deleted", "changed")
	unknown := make(chan string, 1)
	r.handle("h", cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			unknown <- missed.Key
		}
	}})
	before := r.startBusy()
	r.proxy.Cut()
	r.waitFor("the watch is lost", func(s metricstest.Snapshot) bool { return s["k8s_informer_watch_connected"] == 0 })
	r.delete("deleted")
	r.update("changed", "new")
	r.create("created")
	r.gate.nextGet(1, isWatch, status(http.StatusGone, metav1.StatusReasonExpired, -1))
	r.restore()
	r.expectThat(before, func(changed metricstest.Snapshot) changes {
		refused := changed["k8s_informer_watch_disconnects_total{reason=refused}"]
		return relisted("expired").with(changes{
			"watch_disconnects_total{reason=server_close}": 1,
			"watch_disconnects_total{reason=refused}":      refused,
			"sync_errors_total{error_type=refused}":        refused,
			"watch_disconnects_total{reason=expired}":      1,
			"sync_errors_total{error_type=expired}":        1,
			"event_lag_seconds_count":                      3, // deleted, changed, created
			"handler_duration_seconds_count{handler=h}":    4, // and "busy"
			"unchanged_updates_total{cause=relist}":        1,
		})
	}, lastEvent, lastSync, bookmarks)
	if key := <-unknown; key != r.namespace+"/deleted" {
		t.Errorf("the missed delete is of %s", key)
	}
	r.holds()
}
