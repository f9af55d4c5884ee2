package apiclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

var pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}

// conflicting is an API server on which every object has just been changed by another client.
func conflicting() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`)
	}))
}

// All clients created from the configuration are observed, including waits for its rate limiter.
func ExampleWrapConfig() {
	server := conflicting()
	defer server.Close()
	obs, registry := observertest.Example()
	config := &rest.Config{Host: server.URL, RateLimiter: flowcontrol.NewTokenBucketRateLimiter(50, 100)}

	config = apiclient.WrapConfig(obs, config, apiclient.Options{})

	client := kubernetes.NewForConfigOrDie(config)
	_, err := client.CoreV1().Pods("shop").UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
	fmt.Println(err != nil)
	observertest.Print(registry, "k8s_client_requests_total", "k8s_client_conflicts_total")
	// Output:
	// true
	// k8s_client_conflicts_total{resource="pods",subresource="status"} 1
	// k8s_client_requests_total{code="409",resource="pods",subresource="status",verb="update"} 1
}

// A client that is created elsewhere, from a transport.
func ExampleWrapTransport() {
	server := conflicting()
	defer server.Close()
	obs, registry := observertest.Example()

	transport := apiclient.WrapTransport(obs, http.DefaultTransport)

	config := &rest.Config{Host: server.URL, Transport: transport}
	client := kubernetes.NewForConfigOrDie(config)
	_, err := client.CoreV1().Pods("shop").Update(context.Background(), pod, metav1.UpdateOptions{})
	fmt.Println(err != nil)
	observertest.Print(registry, "k8s_client_conflicts_total")
	// Output:
	// true
	// k8s_client_conflicts_total{resource="pods",subresource=""} 1
}
