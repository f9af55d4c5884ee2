package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// decorated is a program with the library: an informer of two Pods, of which "stuck" is terminating, and a queue in which it is retried.
// It serves package inspect with TLS, to the token "secret".
func decorated(t *testing.T) (url string, flags []string) {
	t.Helper()
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Checks = collectors.Checks{Memory: 10 * time.Millisecond} })
	api := fakeapi.NewServer()
	api.OnList = func(metav1.ListOptions) (runtime.Object, error) {
		stuck, managed := fakeapi.Pod("stuck", 7), fakeapi.Pod("ok", 8)
		stuck.DeletionTimestamp, stuck.Finalizers = &metav1.Time{Time: time.Now().Add(-time.Hour)}, []string{"example.com/\x1b[31mstuck"}
		managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("m", 4<<10)}}
		managed.Spec.NodeName = strings.Repeat("n", 8<<10)
		return fakeapi.PodList(10, stuck, managed), nil
	}
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, api, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	<-api.Streams
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour)
	q := queue.NewTypedRateLimitingQueue(obs, "pods", limiter, queue.Options[string]{})
	t.Cleanup(q.ShutDown)
	sync := controllers.NewSyncHandler(obs, "pods", func(context.Context, string) error { return context.DeadlineExceeded }, controllers.Options{})
	if err := sync(t.Context(), "default/stuck"); err != nil {
		q.AddRateLimited("default/stuck")
	}

	handler := inspect.NewHandler(obs)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/metrics"):
			http.StripPrefix("/metrics", handler).ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/elsewhere"):
			http.Redirect(w, r, "https://example.com/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	await.True(t, "an estimate of the synced cache", func() bool {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, inspect.CachesPath, http.NoBody))
		var r cachesReport
		return json.Unmarshal(w.Body.Bytes(), &r) == nil && len(r.Caches) == 1 && r.Caches[0].TotalBytes > 8<<10
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.URL, []string{"--token-file=" + write(t, "token", "secret\n"), "--ca-file=" + write(t, "ca.crt", string(ca))}
}

// ask runs a command that asks a program.
func ask(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, progress output
	err = run(t.Context(), args, &out, &progress)
	return out.String(), err
}

// explain prints the causes and what the program knows, with the exit codes of check.
func TestExplain(t *testing.T) {
	url, flags := decorated(t)
	explain := func(object string, more ...string) (string, error) {
		return ask(t, append(append([]string{"explain", object, "--url=" + url + "/metrics"}, flags...), more...)...)
	}
	out, err := explain("pods/default/stuck")
	if !errors.Is(err, errProblems) || exitCode(err) != exitError {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{
		"terminating   the object has been terminating for 1h0m", "blocked by finalizer example.com/[31mstuck\n",
		"backoff       controller pods has retried the item 1 times", "informer of *     synced, watch connected, sync lag 0s",
		"cached object     version 7, terminating since 60m ago, finalizers example.com/[31mstuck\n",
		"controller pods   last reconcile error (timeout), ", ", delayed, retries 1 in ", ", next attempt in 59m\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, err = explain("pods/default/ok")
	if err != nil || !strings.HasPrefix(out, "The program knows no cause.\n\ninformer of *   synced") {
		t.Errorf("error %v:\n%s", err, out)
	}
	out, err = explain("pods/default/stuck", "-o", "json")
	var e explanation
	if decoding := json.Unmarshal([]byte(out), &e); decoding != nil || !errors.Is(err, errProblems) || len(e.Causes) != 2 || e.Causes[0].Cause != "terminating" || !strings.Contains(out, `"backoffUntil"`) {
		t.Errorf("errors %v, %v:\n%s", decoding, err, out)
	}
	if out, err := explain("nodes/node-1"); !errors.Is(err, errProblems) || !strings.HasPrefix(out, "no_informer   no informer watches nodes") {
		t.Errorf("error %v:\n%s", err, out)
	}
}

// A program that cannot be asked is neither without causes nor with causes, and the error says what to do. No token is sent to another
// host or in clear text.
func TestExplainNothing(t *testing.T) {
	url, flags := decorated(t)
	token, ca := flags[0], flags[1]
	insecure := "--insecure-skip-tls-verify"
	for want, args := range map[string][]string{
		`required flag(s) "url" not set`:    {"pods/default/a"},
		"accepts 1 arg(s), received 0":      {"--url=" + url},
		`"pods" does not name an object`:    {"pods", "--url=" + url},
		`"pods//" does not name an object`:  {"pods//", "--url=" + url},
		"--url: not a URL":                  {"pods/default/a", "--url=localhost:8443"},
		"--url: not a URL like":             {"pods/default/a", "--url=https://user:password@localhost"},
		"failed to verify certificate":      {"pods/default/a", "--url=" + url, token},
		"401 Unauthorized: Unauthorized":    {"pods/default/a", "--url=" + url + "/metrics", ca},
		"does not serve inspect.NewHandler": {"pods/default/a", "--url=" + url, token, insecure},
		"302 Found":                         {"pods/default/a", "--url=" + url + "/elsewhere", token, ca},
		"--token-file: open":                {"pods/default/a", "--url=" + url, "--token-file=absent"},
		"--ca-file: open":                   {"pods/default/a", "--url=" + url, "--ca-file=absent"},
		"no certificate in PEM":             {"pods/default/a", "--url=" + url, "--ca-file=" + strings.TrimPrefix(token, "--token-file=")},
		"a token is sent in clear text":     {"pods/default/a", "--url=http://program.example.com", token},
		"connection refused":                {"pods/default/a", "--url=http://127.0.0.1:1", token},
		`must be one of table, json`:        {"pods/default/a", "--url=" + url, "-o", "yaml"},
	} {
		out, err := ask(t, append([]string{"explain"}, args...)...)
		if exitCode(err) != exitUsage || out != "" || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "password@") {
			t.Errorf("%v: error %v, want %q; output %q", args, err, want, out)
		}
	}
	notOurs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte("{"))
		for err == nil { // without end
			_, err = w.Write(make([]byte, 64<<10))
		}
	}))
	defer notOurs.Close()
	if _, err := ask(t, "explain", "pods/default/a", "--url="+notOurs.URL); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "not the response of a program with the library") {
		t.Errorf("error %v", err)
	}
}

// cost with a URL prints what other forms of a program's caches would save.
func TestCostOfCaches(t *testing.T) {
	url, flags := decorated(t)
	out, err := ask(t, append([]string{"cost", "--url=" + url + "/metrics", "--output=json"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	var r cachesReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Caches) != 1 {
		t.Fatalf("%v:\n%s", err, out)
	}
	c := r.Caches[0]
	if s := c.Savings; c.Objects != 2 || s.WithoutManagedFields < 4<<10 || s.WithoutManagedFields > 6<<10 || s.MetadataOnly < 8<<10 || s.MetadataOnly > 16<<10 || s.Both+300 > c.TotalBytes {
		t.Errorf("%+v", c)
	}
	out, err = ask(t, append([]string{"cost", "--url=" + url + "/metrics"}, flags...)...)
	if err != nil || !strings.Contains(out, "MEMORY, KiB  WITHOUT MANAGEDFIELDS  METADATA ONLY") || !strings.Contains(out, "all        2") || !strings.Contains(out, " -"+kibi(c.Savings.MetadataOnly)+" ") {
		t.Errorf("error %v:\n%s", err, out)
	}
	var text strings.Builder
	if err := (cachesReport{}).table(&text); err != nil || !strings.Contains(text.String(), "No estimates: set collectors.Checks.Memory") {
		t.Errorf("error %v:\n%s", err, &text)
	}
}
