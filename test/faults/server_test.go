package faults

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/kubeauth"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// withoutCache turns the watch cache off. It begins with the version at its start, so that a watch cannot be resumed after a restart if
// anything was written since its last event, such as the API server's own Lease.
const withoutCache = "--watch-cache=false"

// The API server is killed and restarted. The watch is resumed.
func TestAPIServerKilled(t *testing.T) {
	fault(t)
	plane := private(t, withoutCache)
	r := newRig(t, options{server: plane.Config()})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.kill(plane)
	r.is(r.waitUntilExceeds("sync_lag_seconds", 1), "watch_connected", 0)
	r.waitUntilExceeds("sync_errors_total{error_type=refused}", 0)
	r.resumes(plane, before)
	r.holds()
}

// kill kills the API server. New connections are refused until revive: the proxy would accept them while nothing listens behind it,
// and a starting API server accepts them long before it answers.
func (r *rig) kill(plane *stack.ControlPlane) {
	r.Helper()
	r.proxy.Refuse()
	if err := plane.APIServer.Kill(); err != nil {
		r.Fatal(err)
	}
}

// revive starts a killed API server, and lets the informer connect when it is ready.
func (r *rig) revive(plane *stack.ControlPlane) {
	r.Helper()
	if err := plane.APIServer.Start(r.Context()); err != nil {
		r.Fatal(err)
	}
	r.restore()
}

// resumes revives a killed API server, and expects that the watch is resumed.
func (r *rig) resumes(plane *stack.ControlPlane, before metricstest.Snapshot) {
	r.Helper()
	r.revive(plane)
	r.create("later")
	after := r.expectThat(before, func(changed metricstest.Snapshot) changes {
		return reopened.with(lostConnection(changed)).with(r.received(1))
	})
	r.waitedForBackoff(before, after)
}

// A program's metrics are served only after the API server has authenticated the scraper. A filter that asks about each scrape, like
// that of kubebuilder once its results have expired, hides the outage; one that remembers the scrapers it has allowed shows it.
func TestSecuredMetricsInAnOutage(t *testing.T) {
	fault(t)
	plane := private(t, withoutCache)
	r := newRig(t, options{server: plane.Config()})
	r.handle("h", cache.ResourceEventHandlerFuncs{})
	filter, err := kubeauth.New(plane.Config(), kubeauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	metrics := promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{})
	asks := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: plane.Config().BearerToken}}
		if _, err := r.client.AuthenticationV1().TokenReviews().Create(request.Context(), review, metav1.CreateOptions{}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		metrics.ServeHTTP(w, request)
	})
	scrape := func(handler http.Handler, want int) string {
		t.Helper()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		request.Header.Set("Authorization", "Bearer "+plane.Config().BearerToken)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, request); w.Code != want {
			t.Errorf("a scrape is answered with %d, want %d: %s", w.Code, want, w.Body)
		}
		return w.Body.String()
	}
	before := r.startBusy()
	remembers := filter.Protect(metrics)
	scrape(asks, http.StatusOK)
	scrape(remembers, http.StatusOK)
	r.kill(plane)
	r.is(r.waitUntilExceeds("sync_lag_seconds", 1), "watch_connected", 0)
	r.waitUntilExceeds("sync_errors_total{error_type=refused}", 0)
	scrape(asks, http.StatusInternalServerError)
	if text := scrape(remembers, http.StatusOK); !regexp.MustCompile(`(?m)^k8s_informer_watch_connected{.*} 0$`).MatchString(text) {
		t.Errorf("the scrape does not show the outage:\n%s", text)
	}
	r.resumes(plane, before)
	scrape(asks, http.StatusOK)
}

// etcd is restored to an older state: resource versions go backwards. kube-apiserver accepts a watch from a version that
// it has not reached yet, and the informer does not learn of undone writes: it is connected and wrong until a relist. The
// first attempt of the relist fails because the version is too large. Audits fail as well. Freshness checks are watches
// and do not detect the fault (S12).
func TestEtcdRestored(t *testing.T) {
	fault(t)
	const undone = 200 // more than the API server writes when it starts
	plane := private(t)
	r := newRig(t, options{server: plane.Config(), checks: collectors.Checks{Freshness: time.Second, Audit: time.Second}})
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
	r.kill(plane)
	if err := plane.Etcd.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	r.revive(plane)
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
			"handler_duration_seconds_count{handler=h}": undone + 3,
			"unchanged_updates_total{cause=relist}":     1, "resource_version_regressions_total": 1,
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
	plane := private(t, withoutCache)
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
			"watches_total":                  2, "watch_duration_seconds_count": 2, "coverage_gap_seconds_count": 1,
			"handler_duration_seconds_count{handler=h}": 4,
			"unchanged_updates_total{cause=relist}":     2,
		})
	})
	r.waitedForBackoff(before, after)
	r.holds()
}
