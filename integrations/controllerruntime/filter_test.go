package controllerruntime_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
)

// TestSecuredMetricsDuringAnOutage: without the API server, scrapers that it has allowed are served for an hour. Others are
// not, and neither are those that it has denied. The option is that of controller-runtime's metrics server.
func TestSecuredMetricsDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &reviews{allowed: map[string]bool{"scraper/metrics": true, "scraper-that-is-new/metrics": true}}
		options := metricsserver.Options{SecureServing: true, FilterProvider: controllerruntime.WithAuthenticationAndAuthorization}
		filter, err := options.FilterProvider(api.config(), nil)
		if err != nil {
			t.Fatal(err)
		}
		handler, err := filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
		if err != nil {
			t.Fatal(err)
		}
		scrape := func(token string, want int) {
			t.Helper()
			r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%q gets %d, want %d", token, w.Code, want)
			}
		}
		scrape("scraper", http.StatusOK)
		scrape("stranger", http.StatusForbidden)
		scrape("", http.StatusUnauthorized)

		api.setDown(true)
		for range 50 {
			time.Sleep(time.Minute)
			scrape("scraper", http.StatusOK)
			scrape("stranger", http.StatusServiceUnavailable)
			scrape("scraper-that-is-new", http.StatusServiceUnavailable)
			scrape("", http.StatusUnauthorized)
		}
		time.Sleep(12 * time.Minute) // and no longer
		scrape("scraper", http.StatusServiceUnavailable)

		api.setDown(false)
		scrape("scraper", http.StatusOK)
		scrape("stranger", http.StatusForbidden)
	})
}
