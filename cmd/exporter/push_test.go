package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/push"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// pushgateway records pushed metrics.
type pushgateway struct {
	*httptest.Server
	mu       sync.Mutex
	requests []pushed
}

type pushed struct {
	method, path, user, password string
	metricstest.Samples
}

func newPushgateway(t *testing.T, status int) *pushgateway {
	t.Helper()
	p := &pushgateway{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := pushed{method: r.Method, path: r.URL.Path}
		got.user, got.password, _ = r.BasicAuth()
		var err error
		if got.Samples, err = metricstest.Decode(r.Body, r.Header); err != nil {
			t.Errorf("the request has no metrics: %v", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests = append(p.requests, got)
		w.WriteHeader(status)
	}))
	t.Cleanup(p.Close)
	return p
}

// only returns the pushed metrics. It fails unless there was exactly one request.
func (p *pushgateway) only(t *testing.T) pushed {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) != 1 {
		t.Fatalf("%d pushes, want 1", len(p.requests))
	}
	return p.requests[0]
}

// pushOnce runs the command.
func pushOnce(t *testing.T, args ...string) (log *output, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	log = &output{}
	err = run(ctx, append([]string{"push"}, args...), io.Discard, log)
	if ctx.Err() != nil {
		t.Fatalf("did not end within 3 minutes\n%s", log)
	}
	return log, err
}

// The state after a sync and an audit is pushed, including forbidden resources (S24).
func TestPush(t *testing.T) {
	plane, namespace := stacktest.ControlPlane(t), stacktest.Namespace(t)
	rules := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "namespaces"}, Verbs: []string{"list", "watch"}}
	pusher := stacktest.NewAccount(t, plane, namespace, "pusher")
	pusher.Grant(t, "", rules)
	config := "--config.file=" + write(t, "config.yaml", "resources: [{name: pods}, {name: namespaces}, {name: secrets}]\nchecks: {audit: 1s}\n")
	gateway := newPushgateway(t, http.StatusOK)
	url := strings.Replace(gateway.URL, "http://", "http://alice@", 1)
	log, err := pushOnce(t, kubeconfigOf(t, pusher.Config), config, "--pushgateway.url="+url, "--pushgateway.password-file="+write(t, "password", "hunter2\n"), "--pushgateway.job=nightly", "--pushgateway.grouping=cluster=eu", "--pushgateway.grouping=zone=b")
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	got := gateway.only(t)
	if got.method != http.MethodPut || got.user != "alice" || got.password != "hunter2" {
		t.Errorf("%s by %s with %s", got.method, got.user, got.password)
	}
	if want := []string{"/metrics/job/nightly/cluster/eu/zone/b", "/metrics/job/nightly/zone/b/cluster/eu"}; got.path != want[0] && got.path != want[1] {
		t.Errorf("pushed to %s, want %s", got.path, want[0])
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the password is logged:\n%s", log)
	}
	for name, want := range map[string]map[string]float64{
		"k8s_informer_synced":          {"pods/*": 1, "namespaces/*": 1, "secrets/*": 0},
		"informer_exporter_kind_up":    {"pods/": 1, "namespaces/": 1, "secrets/": 0},
		"k8s_informer_audits_total":    nil,
		"k8s_informer_objects":         nil,
		"go_goroutines":                nil,
		"k8s_informer_relists_total":   nil,
		"k8s_client_requests_total":    nil,
		"informer_exporter_build_info": nil,
	} {
		have := got.By(name, "informer_type", "watch_namespace")
		if len(have) == 0 {
			t.Errorf("no %s was pushed", name)
		}
		for labels, value := range want {
			if have[labels] != value {
				t.Errorf("%s of %s is %v, want %v", name, labels, have[labels], value)
			}
		}
	}
	for _, kind := range []string{"pods", "namespaces"} {
		if n := got.By("k8s_informer_audits_total", "informer_type", "result")[kind+"/consistent"]; n < 1 {
			t.Errorf("%s: %v consistent audits, want at least 1", kind, n)
		}
	}
	if n := got.By("k8s_informer_objects", "informer_type", "watch_namespace")["namespaces/*"]; n < 1 {
		t.Errorf("%v namespaces", n)
	}
}

// Differences are pushed once two audits have found them (S11, S24): in front of the API server, a proxy answers the lists of audits without
// objects.
func TestPushConfirmsDifferences(t *testing.T) {
	config := stacktest.Config(t)
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if query := r.URL.Query(); query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": %q}, "items": []}`, query.Get("resourceVersion"))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	gateway := newPushgateway(t, http.StatusOK)
	configFile := "--config.file=" + write(t, "config.yaml", "resources: [{name: namespaces}]\nchecks: {audit: 2s}\n")
	log, err := pushOnce(t, kubeconfigOf(t, &rest.Config{Host: server.URL}), configFile, "--pushgateway.url="+gateway.URL)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if n := gateway.only(t).By("k8s_informer_audit_differences", "informer_type", "difference")["namespaces/extra"]; n < 1 {
		t.Errorf("%v namespaces are extra, want all of them\n%s", n, log)
	}
}

// On timeout, the available metrics are pushed and the command fails. A password in the URL is sent, and not logged.
func TestPushIncomplete(t *testing.T) {
	gateway := newPushgateway(t, http.StatusAccepted)
	url := strings.Replace(gateway.URL, "http://", "http://alice:hunter2@", 1)
	log, err := pushOnce(t, "--kubeconfig="+unreachable(t), "--pushgateway.url="+url, "--push.timeout=5s")
	if exitCode(err) != exitError || !strings.Contains(fmt.Sprint(err), "not synced and audited") {
		t.Errorf("error %v", err)
	}
	if text := log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "metrics pushed") {
		t.Errorf("the password is logged, or the push is not:\n%s", text)
	}
	got := gateway.only(t)
	if got.user != "alice" || got.password != "hunter2" {
		t.Errorf("pushed by %s with %s", got.user, got.password)
	}
	if synced := got.By("k8s_informer_synced", "informer_type", "watch_namespace"); synced["pods/*"] != 0 || len(synced) < 20 {
		t.Errorf("synced: %v", synced)
	}
}

func TestPushFails(t *testing.T) {
	config := "--config.file=" + write(t, "config.yaml", "resources: [{name: namespaces}]\nchecks: {audit: 0s}\n")
	gateway := newPushgateway(t, http.StatusInternalServerError)
	url := strings.Replace(gateway.URL, "http://", "http://alice:hunter2@", 1)
	_, err := pushOnce(t, kubeconfigOf(t, stacktest.Config(t)), config, "--pushgateway.url="+url)
	if exitCode(err) != exitError || !strings.Contains(fmt.Sprint(err), "--pushgateway.url: unexpected status code 500") || strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Errorf("error %v", err)
	}
}

// A Pushgateway that does not stop talking is cut off.
func TestPushReadsShortResponses(t *testing.T) {
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20)) // until the client has gone
		}
	}))
	t.Cleanup(gateway.Close)
	address, err := url.Parse(gateway.URL)
	if err != nil {
		t.Fatal(err)
	}
	err = push.New(address.String(), "job").Client(shortResponses{gateway.Client()}).Push()
	if text := fmt.Sprint(err); !strings.Contains(text, "xxx") || len(text) > 2*untrusted.MaxText {
		t.Errorf("an error of %d bytes: %.200s", len(text), text)
	}
}

// No error about the address of the Pushgateway contains its password, however the address is mistyped.
func TestPushErrorsHaveNoPassword(t *testing.T) {
	for _, address := range []string{
		"http://alice:hunter2@gateway:port", "http://alice:hunter2@", "ftp://alice:hunter2@gateway", "alice:hunter2@gateway:9091",
		"http:alice:hunter2@gateway:9091", "http:/alice:hunter2@gateway:9091", "http:///alice:hunter2@gateway", "//alice:hunter2@gateway",
	} {
		var stdout, stderr output
		err := run(t.Context(), []string{"push", "--pushgateway.url=" + address, "--kubeconfig=" + unreachable(t)}, &stdout, &stderr)
		if exitCode(err) != exitUsage || !strings.Contains(fmt.Sprint(err), "--pushgateway.url") {
			t.Errorf("%s: error %v", address, err)
		}
		if text := fmt.Sprint(err, &stdout, &stderr); strings.Contains(text, "hunter2") {
			t.Errorf("%s: the password is printed: %s", address, text)
		}
	}
}
