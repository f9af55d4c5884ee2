package exporter

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// wire records requests to the API server and their responses.
type wire struct {
	next http.RoundTripper

	mu       sync.Mutex
	requests []*http.Request
	received bytes.Buffer
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.requests = append(w.requests, r)
	w.mu.Unlock()
	response, err := w.next.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(response.Body, w), response.Body}
	}
	return response, err
}

// Write records received data.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received.Write(p)
}

func (w *wire) has(s string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.received.Bytes(), []byte(s))
}

// readWhole reports whether a request is for resources that are read as whole objects, such as Leases and Deployments.
func readWhole(r *http.Request) bool {
	return slices.ContainsFunc([]string{
		"/leases", "/deployments", "/daemonsets", "/replicasets", "/statefulsets", "/horizontalpodautoscalers", "/poddisruptionbudgets",
		"/openapi/v3", // which lists the fields
	}, func(part string) bool { return strings.Contains(r.URL.Path, part) })
}

// The exporter requests whole objects only of resources with contents that it reports. Of all others, including Secrets, the
// API server sends only metadata.
func TestOnlyMetadataIsRequested(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	const content = "the-content-of-a-secret"
	createSecret := func(name string) {
		t.Helper()
		_, err := kubernetes.NewForConfigOrDie(admin).CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Data:       map[string][]byte{"key": []byte(content)},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	createSecret("listed")

	recorded := &wire{}
	cluster := rest.CopyConfig(admin)
	cluster.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorded.next = next
		return recorded
	})
	e := newReal(t, Options{REST: cluster, Config: config.Config{ExtraResources: []config.Resource{{Name: "secrets"}}}})
	run(t, e, admin)
	waitReady(t, e)
	await.True(t, "the secret of the list", func() bool { return recorded.has("listed") })
	createSecret("watched")
	await.True(t, "the secret of the watch", func() bool { return recorded.has("watched") })
	await.True(t, "both are in the cache", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerObjects.Name, "informer_type")["secrets"] >= 2
	})

	for _, s := range []string{content, base64.StdEncoding.EncodeToString([]byte(content))} {
		if recorded.has(s) {
			t.Errorf("%q came over the wire", s)
		}
	}
	recorded.mu.Lock()
	defer recorded.mu.Unlock()
	if len(recorded.requests) < len(e.informers.List()) {
		t.Errorf("%d requests for %d informers: the recorder does not see all", len(recorded.requests), len(e.informers.List()))
	}
	whole := 0
	for _, r := range recorded.requests {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s: only reads are allowed", r.Method, r.URL)
		}
		if path := r.URL.Path; path == "/api" || path == "/apis" {
			continue // discovery, without any object
		}
		if agent := r.Header.Get("User-Agent"); !strings.HasPrefix(agent, "informer-exporter/") {
			t.Errorf("%s %s: user agent %q", r.Method, r.URL, agent)
		}
		if readWhole(r) {
			whole++
			continue
		}
		for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
			if !strings.Contains(part, "as=PartialObjectMetadata") && part != "application/json" {
				t.Errorf("%s %s accepts %q", r.Method, r.URL, part)
			}
		}
		if first, _, _ := strings.Cut(r.Header.Get("Accept"), ","); !strings.HasPrefix(first, "application/vnd.kubernetes.protobuf;") {
			t.Errorf("%s %s prefers %q, want metadata in protobuf", r.Method, r.URL, first)
		}
	}
	if whole == 0 || whole > len(recorded.requests)/2 {
		t.Errorf("%d of %d requests are for whole objects", whole, len(recorded.requests))
	}
}
