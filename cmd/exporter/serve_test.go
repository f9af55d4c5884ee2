package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// served is a running serve command.
type served struct {
	url  string
	log  *output
	stop context.CancelFunc
	done chan error
}

// serve runs the command until the end of the test or stop. It uses the shared API server unless args specify another one.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--kubeconfig=") }) {
		args = append(args, kubeconfigOf(t, stacktest.Config(t)))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{log: &output{}, stop: cancel, done: make(chan error, 1)}
	args = append([]string{"serve", "--log.format=json", "--web.listen-address=127.0.0.1:0"}, args...)
	go func() {
		defer close(s.done)
		s.done <- run(ctx, args, io.Discard, s.log)
	}()
	t.Cleanup(func() {
		cancel()
		for err := range s.done {
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		}
	})
	s.url = "http://" + s.log.wait(t, `"msg":"Listening on","address":"`, `"`)
	return s
}

// get returns status and body.
func get(t *testing.T, url string, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// The endpoints of a running exporter (O1).
func TestServe(t *testing.T) {
	stacktest.Config(t) // its goroutines are not a leak
	leaks := goleak.IgnoreCurrent()
	s := serve(t, "--web.telemetry-path=/m")
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	for path, want := range map[string]struct {
		code int
		part string
	}{
		"/":               {200, "<!DOCTYPE html>"},
		"/m":              {200, `informer_exporter_kind_up{informer_type="pods"} 1`},
		"/metrics":        {404, ""},
		"/livez":          {200, "ok"},
		"/healthz":        {200, "ok"},
		"/readyz":         {200, "ok"},
		"/readyz?verbose": {200, "[+]deployments.apps ok\n"},
		"/debug/pprof/":   {404, ""},
	} {
		if code, body := get(t, s.url+path); code != want.code || !strings.Contains(body, want.part) {
			t.Errorf("%s: %d, want %d and %q:\n%.300s", path, code, want.code, want.part, body)
		}
	}
	// Exemplars need OpenMetrics.
	if _, body := get(t, s.url+"/m", "Accept", "application/openmetrics-text"); !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("no OpenMetrics:\n%.300s", body)
	}

	s.stop()
	for err := range s.done {
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	text := s.log.String()
	for _, step := range []string{"report not ready", "stop web server", "stop informers", "flush traces", "stop probes"} {
		_, rest, ok := strings.Cut(text, `"msg":"shutdown step finished","step":"`+step+`","duration":"`)
		if !ok {
			t.Fatalf("step %q is not logged, or not after those before it:\n%s", step, s.log)
		}
		text = rest
	}
	leaktest.None(t, leaks)
}

// The web configuration protects every path, profiles included.
func TestServeBasicAuth(t *testing.T) {
	const hash = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi" // fakepassword, from exporter-toolkit
	web := write(t, "web.yaml", "basic_auth_users: {alice: '"+hash+"'}\n")
	s := serve(t, "--web.config.file="+web, "--web.enable-pprof")
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	for _, path := range []string{"/", "/metrics", "/livez", "/healthz", "/readyz", "/readyz?verbose", "/debug/pprof/", "/debug/pprof/cmdline", "/nope"} {
		if code, body := get(t, s.url+path); code != http.StatusUnauthorized || strings.TrimSpace(body) != "Unauthorized" {
			t.Errorf("%s without a password: %d %q, want 401", path, code, body)
		}
		if code, _ := get(t, s.url+path, "Authorization", "Basic YWxpY2U6d3Jvbmc="); code != http.StatusUnauthorized {
			t.Errorf("%s with a wrong password: %d, want 401", path, code)
		}
		want := http.StatusOK
		if path == "/nope" {
			want = http.StatusNotFound
		}
		if code, _ := get(t, s.url+path, "Authorization", "Basic YWxpY2U6ZmFrZXBhc3N3b3Jk"); code != want {
			t.Errorf("%s with the password: %d, want %d", path, code, want)
		}
	}
}

// The environment enables tracing: spans reach the collector, the last ones at shutdown, and their trace IDs are the
// exemplars of the histograms.
func TestServeTraces(t *testing.T) {
	var received output
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&received, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")

	s := serve(t)
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	stacktest.Namespace(t) // an event
	exemplar := regexp.MustCompile(`k8s_informer_event_lag_seconds_bucket\{[^}]*informer_type="namespaces"[^}]*\} \S+ # \{trace_id="[0-9a-f]{32}"\}`)
	var body string
	await.True(t, "an exemplar", func() bool {
		_, body = get(t, s.url+"/metrics", "Accept", "application/openmetrics-text")
		return exemplar.MatchString(body)
	}, func() string { return body })
	s.stop()
	for err := range s.done {
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	for _, part := range []string{"informer.deliver namespaces", "informer-exporter"} {
		if !strings.Contains(received.String(), part) {
			t.Errorf("the collector has not received %q", part)
		}
	}
}

// Each shard has its own value of the label "name".
func TestServeShard(t *testing.T) {
	config := write(t, "config.yaml", "resources: [pods, nodes, configmaps, services]\n")
	s := serve(t, "--shard=1/2", "--config.file="+config)
	s.log.wait(t, `"msg":"starting"`, `"shard":"1/2"`)
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	_, metrics := get(t, s.url+"/metrics")
	for _, want := range []string{`informer_exporter_shards{shard="1"} 2`, `k8s_informer_synced{informer_type="services",name="informer-exporter-1",watch_namespace="*"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(metrics, `informer_type="pods"`) {
		t.Error("the shard watches pods, which belong to the other shard")
	}
}
