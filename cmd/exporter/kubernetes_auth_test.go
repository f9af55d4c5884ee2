package main

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// everyPath are the registered paths, and some unregistered ones.
var everyPath = []string{
	"/", "/metrics", "/api/v1/informers", "/livez", "/healthz", "/readyz", "/readyz?verbose",
	"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/pprof/goroutine", "/debug/pprof/heap",
	"/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=1",
	"/nope", "//metrics", "/metrics/", "/debug/pprof/../../metrics",
}

// reviewTokens is the permission that the exporter needs to review tokens.
var reviewTokens = authorizationv1.SubjectAccessReviewSpec{
	ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create"},
}

// probes are those paths that Kubernetes lets every authenticated user get, by the ClusterRole system:public-info-viewer.
var probes = []string{"/livez", "/healthz", "/readyz"}

// kubeconfigOf returns the flag --kubeconfig for a configuration.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	return "--kubeconfig=" + stacktest.Kubeconfig(t, config)
}

// With --web.kubernetes-auth, the API server authorizes every path. Probes have a separate address.
func TestServeKubernetesAuth(t *testing.T) {
	plane, namespace := stacktest.ControlPlane(t), stacktest.Namespace(t)
	metrics := rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}
	everything := rbacv1.PolicyRule{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}}
	pods := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}

	exporter := stacktest.NewAccount(t, plane, namespace, "exporter")
	exporter.Bind(t, "system:auth-delegator")
	exporter.Grant(t, "", pods)
	exporter.AwaitAllowed(t, reviewTokens)
	token := func(name string, rules ...rbacv1.PolicyRule) string {
		account := stacktest.NewAccount(t, plane, namespace, name)
		if len(rules) > 0 {
			account.Grant(t, "", rules...)
		}
		return account.Config.BearerToken
	}
	stranger, scraper, reader := token("stranger"), token("scraper", metrics), token("reader", everything)

	config := write(t, "config.yaml", "resources: [{name: pods}]\n")
	s := serve(t, kubeconfigOf(t, exporter.Config), "--config.file="+config, "--web.kubernetes-auth", "--web.kubernetes-auth-without-tls", "--web.enable-pprof", "--web.health-address=127.0.0.1:0")
	health := "http://" + s.log.wait(t, `"msg":"serving probes without authentication","address":"`, `"`)
	s.log.wait(t, `"msg":"informers synced"`, "\n")

	for _, path := range everyPath {
		for who, tc := range map[string]struct {
			header string
			want   int
		}{
			"without a token":    {"", http.StatusUnauthorized},
			"with a wrong token": {"Bearer " + scraper[:len(scraper)-4] + "AAAA", http.StatusUnauthorized},
			"with a password":    {"Basic YWxpY2U6ZmFrZXBhc3N3b3Jk", http.StatusUnauthorized},
			"without permission": {"Bearer " + stranger, http.StatusForbidden},
		} {
			var headers []string
			if tc.header != "" {
				headers = []string{"Authorization", tc.header}
			}
			if slices.Contains(probes, path) && tc.want == http.StatusForbidden {
				tc.want = http.StatusOK // the ClusterRole system:public-info-viewer
			}
			if tc.want == http.StatusOK {
				if code, _ := get(t, s.url+path, headers...); code != tc.want {
					t.Errorf("%s %s: %d, want %d", path, who, code, tc.want)
				}
				continue
			}
			if code, body := get(t, s.url+path, headers...); code != tc.want || strings.TrimSpace(body) != http.StatusText(tc.want) {
				t.Errorf("%s %s: %d %.100q, want %d and only its text", path, who, code, body, tc.want)
			}
		}
		want := http.StatusForbidden
		if path == "/metrics" || slices.Contains(probes, path) {
			want = http.StatusOK
		}
		if code, _ := get(t, s.url+path, "Authorization", "Bearer "+scraper); code != want {
			t.Errorf("%s with a token for /metrics: %d, want %d", path, code, want)
		}
	}
	for path, want := range map[string]int{
		"/": 200, "/metrics": 200, "/api/v1/informers": 200, "/readyz": 200, "/readyz?verbose": 200, "/debug/pprof/heap": 200, "/debug/pprof/cmdline": 200, "/nope": 404,
	} {
		if code, _ := get(t, s.url+path, "Authorization", "Bearer "+reader); code != want {
			t.Errorf("%s with a token for everything: %d, want %d", path, code, want)
		}
	}

	// The review requests are reported.
	_, body := get(t, s.url+"/metrics", "Authorization", "Bearer "+reader)
	for _, resource := range []string{"tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io"} {
		if !regexp.MustCompile(`k8s_client_requests_total\{code="201",name="informer-exporter",resource="` + resource + `",subresource="",verb="create"\} [1-9]`).MatchString(body) {
			t.Errorf("requests for %s are not reported", resource)
		}
	}

	for path, want := range map[string]int{"/livez": 200, "/healthz": 200, "/readyz": 200, "/readyz?verbose": 200, "/": 404, "/metrics": 404, "/debug/pprof/": 404} {
		if code, _ := get(t, health+path); code != want {
			t.Errorf("%s at the address for probes: %d, want %d", path, code, want)
		}
	}
}

// Liveness and readiness do not depend on the API server, and neither does a scraper that was allowed before.
func TestServeKubernetesAuthWithoutAPIServer(t *testing.T) {
	plane := stacktest.Private(t, stack.Options{})
	config := write(t, "config.yaml", "resources: [{name: pods}, {name: nodes}]\n")
	s := serve(t, kubeconfigOf(t, plane.Config()), "--config.file="+config, "--web.kubernetes-auth", "--web.kubernetes-auth-without-tls", "--web.health-address=127.0.0.1:0")
	health := "http://" + s.log.wait(t, `"msg":"serving probes without authentication","address":"`, `"`)
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	token := "Bearer " + plane.Config().BearerToken
	for _, path := range []string{"/metrics", "/readyz"} {
		if code, body := get(t, s.url+path, "Authorization", token); code != http.StatusOK {
			t.Fatalf("%s: %d %.300s", path, code, body)
		}
	}
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	s.log.wait(t, `; retrying"`, "\n")
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		if code, body := get(t, health+path); code != http.StatusOK {
			t.Errorf("%s without an API server: %d %s", path, code, body)
		}
	}
	if code, body := get(t, s.url+"/metrics", "Authorization", token); code != http.StatusOK || !strings.Contains(body, `informer_exporter_kind_up{informer_type="pods"} 1`) {
		t.Errorf("a scrape without an API server: %d %.300s", code, body)
	}
	if code, _ := get(t, s.url+"/metrics"); code != http.StatusUnauthorized {
		t.Errorf("a scrape without API server and token: %d, want 401", code)
	}
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.log.wait(t, `"msg":"API server is reachable again`, "\n")
}

// Headers above the limit are rejected.
func TestHeadersAreLimited(t *testing.T) {
	s := serve(t)
	if code, _ := get(t, s.url+"/livez", "X-Large", strings.Repeat("x", 64<<10)); code != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("64 KiB of headers: %d, want 431", code)
	}
}
