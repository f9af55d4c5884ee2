package faults

import (
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// failedLists counts n lists that failed with a type of error.
func failedLists(errorType string, n float64) changes {
	return changes{"sync_errors_total{error_type=" + errorType + "}": n, "sync_duration_seconds_count{result=error}": n}
}

// recovers makes the gate fail n consecutive lists of an informer of one object, and expects the initial list after them.
// The list that succeeds is delayed until the failures are visible.
func (r *rig) recovers(errorType string, n int, failure answer) {
	r.Helper()
	r.create("object")
	seen := make(chan struct{})
	r.gate.nextGet(n, isAnyList, failure)
	r.gate.nextGet(1, isAnyList, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		select {
		case <-seen:
			return next.RoundTrip(req)
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	})
	before := r.now()
	r.start()
	r.failsUnsynced("the failures", func(failed float64) bool { return failed == float64(n) })
	close(seen)
	after := r.expect(before, firstState.with(failedLists(errorType, float64(n))).with(changes{"objects": 1}))
	r.tookFailuresIn(after)
}

// tookFailuresIn fails unless the last sync includes client-go's backoff after a failure.
func (r *rig) tookFailuresIn(after metricstest.Snapshot) {
	r.Helper()
	r.exceeds(nil, after, "last_sync_duration_seconds", 0.7)
}

// failsUnsynced waits for a number of failed lists, and expects an informer that is neither synced nor connected.
func (r *rig) failsUnsynced(what string, enough func(failed float64) bool) {
	r.Helper()
	s := r.waitFor(what, func(s metricstest.Snapshot) bool { return enough(s[syncFailed]) })
	r.is(s, "synced", 0)
	r.is(s, "watch_connected", 0)
}

// 429 Too Many Requests for the list, from API Priority and Fairness. With Retry-After, client-go's REST client retries
// and only the duration shows it; without, each attempt is a failed list.
func TestThrottledList(t *testing.T) {
	fault(t)
	t.Run("with Retry-After", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{lists: true})
		r.gate.nextGet(2, isAnyList, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1))
		before := r.now()
		r.start()
		after := r.expect(before, firstState.with(changes{"list_pages_total": 1}))
		r.exceeds(before, after, "list_duration_seconds_sum", 2) // two waits of a second
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, options{})
		r.recovers("throttled", 2, status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, -1))
	})
}

// The server responds with 500 to the streaming list, and to the LIST that client-go tries instead, and then recovers (S4).
func TestServerErrorOnList(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.recovers("server", 2, status(http.StatusInternalServerError, metav1.StatusReasonInternalError, -1))
}

// S4: an informer that is not allowed to list reports it, and recovers once it is.
func TestForbidden(t *testing.T) {
	fault(t)
	r := newRig(t, options{user: "reader"})
	r.denied("forbidden", func() { r.allow("reader") })
}

// The server rejects a token until it is replaced.
func TestUnauthorized(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.gate.nextGet(0, isAnyList, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer expired")
		return next.RoundTrip(req)
	})
	r.denied("unauthorized", r.gate.open)
}

// denied makes the requests of an informer fail with a type of error until grant is called.
func (r *rig) denied(errorType string, grant func()) {
	r.Helper()
	r.create("object")
	before := r.now()
	r.start()
	r.failsUnsynced("two failures", func(failed float64) bool { return failed >= 2 })
	grant()
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return firstState.with(failedLists(errorType, changed[syncFailed])).with(changes{
			"objects": 1,
			// The permission may be granted between the streaming list and the LIST that follows its failure.
			"list_pages_total": min(changed[prefix+"list_pages_total"], 1),
		})
	})
	r.tookFailuresIn(after)
}

// allow lets a user list and watch the ConfigMaps of the rig's namespace.
func (r *rig) allow(user string) {
	r.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	if _, err := r.client.RbacV1().Roles(r.namespace).Create(r.Context(), role, metav1.CreateOptions{}); err != nil {
		r.Fatal(err)
	}
	if _, err := r.client.RbacV1().RoleBindings(r.namespace).Create(r.Context(), binding, metav1.CreateOptions{}); err != nil {
		r.Fatal(err)
	}
}

// A list that takes longer than the objective. Meanwhile the informer is not synced; there is no error (S2).
func TestSlowList(t *testing.T) {
	fault(t)
	const takes = 31 * time.Second
	r := newRig(t, options{})
	r.create("object")
	r.gate.nextGet(1, isAnyList, delayed(takes))
	before := r.now()
	r.start()
	r.waitFor("the request", func(metricstest.Snapshot) bool { return r.gate.spent() })
	waiting := r.expect(before, changes{})
	r.is(waiting, "synced", 0)
	r.is(waiting, "watch_connected", 0)
	after := r.expect(before, firstState.with(changes{"objects": 1}))
	for _, series := range []string{"last_sync_duration_seconds", "list_duration_seconds_sum", "sync_duration_seconds_sum{result=success}"} {
		r.exceeds(before, after, series, max(takes.Seconds(), catalog.Objectives.SyncDuration.Threshold))
	}
}

// A server, or an aggregated API, without streaming lists rejects the option, and client-go uses LIST.
func TestStreamingListRejected(t *testing.T) {
	fault(t)
	r := newRig(t, options{})
	r.gate.nextGet(1, isStreamingList, status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, -1))
	r.create("object")
	before := r.now()
	r.start()
	r.expect(before, firstState.with(fallback).with(changes{"objects": 1}))
}

// fallback has the additional changes of an initial list that falls back to LIST because the streaming list was rejected.
var fallback = failedLists("other", 1).with(changes{
	"list_pages_total": 1, "relists_total{reason=initial}": 0, "relists_total{reason=fallback}": 1,
})
