package exporter

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// newFake returns an exporter of pods, nodes and secrets for a cluster that has two pods and forbids listing secrets.
func newFake(t *testing.T, options Options) *Exporter {
	t.Helper()
	return newFakeOf(t, options, exportertest.MetadataClient(t), nil)
}

// newFakeOf is like newFake, with the client and the discovery of a cluster.
func newFakeOf(t *testing.T, options Options, cluster metadata.Interface, discover func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)) *Exporter {
	t.Helper()
	if options.Config.Resources == nil {
		options.Config.Resources = []config.Resource{{Name: "pods"}, {Name: "nodes"}, {Name: "secrets"}}
	}
	e, err := newExporter(options, func(client.WrapConfig) (*client.Connection, error) {
		return &client.Connection{Metadata: cluster, Discover: discover, ListVersion: noVersion}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// settle waits until each informer is synced or refused.
func settle(t *testing.T, e *Exporter) {
	t.Helper()
	for _, target := range e.informers.List() {
		select {
		case <-target.Shared.HasSyncedChecker().Done():
		case <-target.Availability.Refusal:
		}
	}
}

func TestReadiness(t *testing.T) {
	e := newFake(t, Options{})

	if response := get(e, "/readyz"); response.Body.String() != "[-]informers failed: none is synced\n[-]sync failed: 3 informers are not synced yet\nreadyz check failed\n" {
		t.Errorf("without verbose:\n%s", response.Body)
	}
	for _, target := range []string{"/readyz", "/readyz?verbose"} {
		response := httptest.NewRecorder()
		e.HealthHandler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		if response.Code != http.StatusServiceUnavailable || strings.Contains(response.Body.String(), "pods") || strings.Contains(response.Body.String(), "secrets") {
			t.Errorf("without authorization: %d\n%s", response.Code, response.Body)
		}
	}
	response := get(e, "/readyz?verbose")
	if want := "[-]pods failed: not synced yet\n[-]nodes failed: not synced yet\n[-]secrets failed: not synced yet\n[-]informers failed: none is synced\nreadyz check failed\n"; response.Code != http.StatusServiceUnavailable || response.Body.String() != want {
		t.Errorf("before the start: %d\n%s\nwant 503\n%s", response.Code, response.Body, want)
	}

	run(t, e)
	settle(t, e)
	for target, want := range map[string]string{
		"/readyz":         "ok\n",
		"/readyz?verbose": "[+]pods ok\n[+]nodes ok\n[+]secrets skipped: forbidden\nreadyz check passed\n",
	} {
		if response := get(e, target); response.Code != http.StatusOK || response.Body.String() != want {
			t.Errorf("%s: %d\n%s\nwant 200\n%s", target, response.Code, response.Body, want)
		}
	}

	e.Drain()
	if response := get(e, "/readyz"); response.Code != http.StatusServiceUnavailable || !strings.Contains(response.Body.String(), "[-]shutdown failed: shutting down\n") {
		t.Errorf("while shutting down: %d\n%s", response.Code, response.Body)
	}
	for _, target := range []string{"/livez", "/healthz"} {
		if response := get(e, target); response.Code != http.StatusOK {
			t.Errorf("%s while shutting down: %d, want 200", target, response.Code)
		}
	}
}

// An exporter that can watch no resource is not ready, so that a rollout with wrong permissions fails.
func TestNotReadyIfEverythingIsRefused(t *testing.T) {
	var written logtest.Recorder
	e := newFake(t, Options{Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: "secrets"}}}})
	run(t, e)
	settle(t, e)
	if response := get(e, "/readyz"); response.Code != http.StatusServiceUnavailable {
		t.Errorf("%d\n%s\nwant 503", response.Code, response.Body)
	}
	await.True(t, "one log line that nothing can be watched", func() bool { return len(written.Find("none of the resources", "resources", "1")) == 1 })
}

// A ready exporter stays ready while a kind that has become available syncs.
func TestReadyStaysReady(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	if response := get(e, "/readyz"); response.Code != http.StatusOK {
		t.Fatalf("%d\n%s", response.Code, response.Body)
	}
	secrets := e.informers.List()[2]
	secrets.Availability.Watched(t.Context(), metav1.ListOptions{}, nil) // granted, not yet synced
	if response := get(e, "/readyz?verbose"); response.Code != http.StatusOK || !strings.Contains(response.Body.String(), "[+]secrets skipped: not synced yet") {
		t.Errorf("%d\n%s", response.Code, response.Body)
	}
}

// A ready exporter stays ready when a new configuration selects only other resources.
func TestReadyStaysReadyWithOtherKinds(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	waitReady(t, e)
	e.follower.Reconfigure(config.Config{Resources: []config.Resource{{Name: "secrets"}}})
	await.True(t, "the other informers are stopped", func() bool { return slices.Equal(namesOf(e.informers.List()), []string{"secrets"}) },
		func() string { return strings.Join(namesOf(e.informers.List()), ",") })
	if response := get(e, "/readyz?verbose"); response.Code != http.StatusOK || !strings.Contains(response.Body.String(), "[+]secrets skipped: ") {
		t.Errorf("%d\n%s", response.Code, response.Body)
	}
}

// Requests are served while the configuration changes, while the exporter starts and while it stops.
func TestRequestsWhileTheConfigurationChanges(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	for range 5 {
		e := newFake(t, Options{})
		var workers sync.WaitGroup
		for w := range 3 {
			workers.Go(func() {
				for i := range 10 {
					e.follower.Reconfigure(config.Config{
						Resources: []config.Resource{{Name: "pods"}, {Name: "configmaps"}}, Namespaces: []string{fmt.Sprint("n", (w+i)%4)},
					})
					for path, want := range map[string][]int{
						"/metrics": {http.StatusOK}, "/": {http.StatusOK}, "/readyz?verbose": {http.StatusOK, http.StatusServiceUnavailable},
					} {
						if response := get(e, path); !slices.Contains(want, response.Code) {
							t.Errorf("%s: %d\n%s", path, response.Code, response.Body)
						}
					}
				}
			})
		}
		e.Start(t.Context())
		workers.Go(func() {
			e.Drain()
			if err := e.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		workers.Wait()
	}
	leaktest.None(t, leaks)
}

func TestPaths(t *testing.T) {
	e := newFake(t, Options{TelemetryPath: "/deep/metrics"})
	for target, want := range map[string]int{
		"/": 200, "/livez": 200, "/healthz": 200, "/deep/metrics": 200, "/api/v1/informers": 200,
		"/metrics": 404, "/nope": 404, "/debug/pprof/": 404, "/debug/pprof/cmdline": 404,
	} {
		if got := get(e, target).Code; got != want {
			t.Errorf("GET %s: %d, want %d", target, got, want)
		}
	}
	if !strings.Contains(get(e, "/").Body.String(), `href="deep/metrics"`) {
		t.Error("the landing page has no link to the metrics")
	}
	response := httptest.NewRecorder()
	e.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodPost, "/deep/metrics", http.NoBody))
	if response.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want 405", response.Code)
	}
	profiled := newFake(t, Options{Pprof: true})
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine"} {
		if got := get(profiled, target).Code; got != http.StatusOK {
			t.Errorf("GET %s with profiles: %d, want 200", target, got)
		}
	}
}

func TestMetrics(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)

	waitKindUp(t, e, map[string]float64{"pods": 1, "nodes": 1, "secrets": 0}) // a watch may open after the sync
	problems, err := testutil.GatherAndLint(e.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}

	for accept, contentType := range map[string]string{
		"": "text/plain; version=0.0.4",
		"application/openmetrics-text;version=1.0.0": "application/openmetrics-text; version=1.0.0",
	} {
		response := get(e, "/metrics", "Accept", accept)
		if got := response.Header().Get("Content-Type"); !strings.HasPrefix(got, contentType) {
			t.Errorf("Accept %q: content type %q, want %q", accept, got, contentType)
		}
		body := response.Body.String()
		for _, part := range []string{"informer_exporter_build_info{", "go_goroutines", "process_start_time_seconds", "promhttp_metric_handler_errors_total", "k8s_informer_synced{"} {
			if !strings.Contains(body, part) {
				t.Errorf("Accept %q: no %s", accept, part)
			}
		}
		if strings.Contains(body, "unmistakable") {
			t.Errorf("Accept %q: the name of an object is in the metrics", accept)
		}
	}
}

func TestBuildInfoHasTheLabelsOfTheCatalog(t *testing.T) {
	e := newFake(t, Options{})
	families, err := e.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != catalog.ExporterBuildInfo.Name {
			continue
		}
		var labels []string
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		want := catalog.ExporterBuildInfo.LabelNames()
		slices.Sort(want)
		if !slices.Equal(labels, want) || family.GetHelp() != catalog.ExporterBuildInfo.Help {
			t.Errorf("labels %v, help %q; the catalog has %v, %q", labels, family.GetHelp(), want, catalog.ExporterBuildInfo.Help)
		}
		return
	}
	t.Errorf("no %s", catalog.ExporterBuildInfo.Name)
}
