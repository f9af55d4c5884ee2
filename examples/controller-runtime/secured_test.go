package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestSecuredMetrics: by default, metrics are served by HTTPS to clients that the API server allows, also once it is gone.
func TestSecuredMetrics(t *testing.T) {
	token := stacktest.Config(t).BearerToken // first, because it skips the test under -short
	o := startOperator(t, program(t, false), stacktest.Namespace(t), false)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	status := func(token string) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(o.metrics, "http:", "https:", 1), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			return fmt.Sprint(err)
		}
		_ = response.Body.Close()
		return response.Status
	}
	o.eventually("the administrator is allowed", func() bool { return status(token) == "200 OK" })
	if got := status(""); got != "401 Unauthorized" {
		t.Errorf("without a token: %s", got)
	}
	if got := status("invented"); got != "401 Unauthorized" {
		t.Errorf("with an invented token: %s", got)
	}
	o.api.server.CloseClientConnections()
	_ = o.api.server.Listener.Close()
	if got := status(token); got != "200 OK" {
		t.Errorf("the administrator, without the API server: %s", got)
	}
	if got := status("another"); got != "503 Service Unavailable" {
		t.Errorf("a new token, without the API server: %s", got)
	}
}
