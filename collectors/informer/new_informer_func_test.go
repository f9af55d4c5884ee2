package informer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// An informer is named after the resource that it requests, with any client. The request that determines the resource
// reaches no server and no other transport.
func TestNewInformerFuncNames(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(server.Close)
	var transported atomic.Int32
	obs, _ := observertest.New(t)
	client, newInformer := informer.NewInformerFunc(obs, &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		transported.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})})

	sheep := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "sheep"}
	made := map[informer.ID]int{}
	for name, c := range map[string]struct {
		prefix string
		watch  func(*rest.Config) watcher
		want   string
	}{
		"typed": {"", func(config *rest.Config) watcher {
			return typed(t, config, client).CoreV1().Pods("a").Watch
		}, "pods a"},
		"typed, behind a proxy": {"/k8s/clusters/c-1/api", func(config *rest.Config) watcher {
			return typed(t, config, client).AppsV1().Deployments("").Watch
		}, "deployments.apps *"},
		"at the end of its rate": {"", func(config *rest.Config) watcher {
			config.RateLimiter = flowcontrol.NewFakeNeverRateLimiter()
			return typed(t, config, client).CoreV1().Nodes().Watch
		}, "nodes *"},
		"namespaces themselves": {"", func(config *rest.Config) watcher {
			return typed(t, config, client).CoreV1().Namespaces().Watch
		}, "namespaces *"},
		"unstructured": {"", func(config *rest.Config) watcher {
			d, err := dynamic.NewForConfigAndClient(config, client)
			if err != nil {
				t.Fatal(err)
			}
			return d.Resource(sheep).Namespace("api").Watch
		}, "sheep.example.com api"},
		"metadata": {"/prefix", func(config *rest.Config) watcher {
			m, err := metadata.NewForConfigAndClient(config, client)
			if err != nil {
				t.Fatal(err)
			}
			return m.Resource(sheep).Watch
		}, "sheep.example.com *"},
	} {
		lw := &cache.ListWatch{WatchFuncWithContext: c.watch(&rest.Config{Host: server.URL + c.prefix})}
		inf := observertest.Keep(t, newInformer(lw, &corev1.ConfigMap{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
		id := onlyNew(informer.Statuses(obs), made)
		if got := id.Type() + " " + id.WatchNamespace(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := inf.GetIndexer().GetIndexers(); len(got) != 1 {
			t.Errorf("%s: the indexers are %v", name, got)
		}
		if err := errors.Join(inf.SetTransform(nil), inf.SetWatchErrorHandler(func(*cache.Reflector, error) {})); err != nil {
			t.Errorf("%s: SetTransform and SetWatchErrorHandler: %v", name, err)
		}
	}
	if requests.Load() != 0 || transported.Load() != 0 {
		t.Errorf("%d requests came to the server, %d to the transport", requests.Load(), transported.Load())
	}
	// All other requests are sent.
	if response, err := client.Get(server.URL); err != nil || response.Body.Close() != nil || requests.Load() != 1 || transported.Load() != 1 {
		t.Errorf("a request: %v; %d came to the server, %d to the transport", err, requests.Load(), transported.Load())
	}
}

// onlyNew returns the ID of the informer that was added to those seen before.
func onlyNew(all []informer.Status, seen map[informer.ID]int) (id informer.ID) {
	now := map[informer.ID]int{}
	for _, s := range all {
		if now[s.ID]++; now[s.ID] > seen[s.ID] {
			id = s.ID
		}
	}
	maps.Copy(seen, now)
	return id
}

func typed(t *testing.T, config *rest.Config, client *http.Client) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// watcher is the method Watch of a client.
type watcher = func(context.Context, metav1.ListOptions) (watch.Interface, error)

// The cache creates an informer for each namespace with the same function.
func TestNewInformerFuncOfSeveralNamespaces(t *testing.T) {
	obs, reg := observertest.New(t)
	client, newInformer := informer.NewInformerFunc(obs, &http.Client{})
	pods := func(namespace string) cache.SharedIndexInformer {
		watch := typed(t, &rest.Config{Host: "http://unused.invalid"}, client).CoreV1().Pods(namespace).Watch
		return observertest.Keep(t, newInformer(&cache.ListWatch{WatchFuncWithContext: watch}, &corev1.Pod{}, 0, cache.Indexers{}))
	}
	pods("a")
	pods("b")
	again := pods("a")
	duplicates := func(namespace string) float64 {
		return metricstest.Gather(t, reg).Sum("k8s_informer_duplicates", "watch_namespace", namespace)
	}
	if a, b := duplicates("a"), duplicates("b"); a != 1 || b != 0 {
		t.Errorf("%v duplicates in one namespace and %v in the other: series of two namespaces are shared, or those of one are not", a, b)
	}
	informer.End(again)
	if a := duplicates("a"); a != 0 {
		t.Errorf("%v duplicates after the end of the second informer", a)
	}
}

// Without its HTTP client, an informer is named after its kind.
func TestNewInformerFuncGuesses(t *testing.T) {
	sheep := &unstructured.Unstructured{}
	sheep.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Sheep"})
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(sheep.GroupVersionKind())
	type Unknown struct{ corev1.Pod }
	for name, c := range map[string]struct {
		client *http.Client
		object runtime.Object
		want   string
		warns  bool
	}{
		"no client":      {nil, &corev1.Pod{}, "pods *", false},
		"another client": {&http.Client{}, &corev1.Pod{}, "pods *", true},
		"unstructured":   {nil, sheep, "sheeps.example.com *", false},
		"metadata":       {nil, partial, "sheeps.example.com *", false},
		"unknown":        {nil, &Unknown{}, "unknowns *", false},
	} {
		var log bytes.Buffer
		obs, _ := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		server := fakeapi.NewServer()
		watches := 0
		server.OnWatch = func(metav1.ListOptions) (watch.Interface, error) { watches++; panic("a client that panics") }
		client, newInformer := informer.NewInformerFunc(obs, c.client)
		observertest.Keep(t, newInformer(server, c.object, 0, cache.Indexers{}))
		id := informer.Statuses(obs)[0].ID
		if got := id.Type() + " " + id.WatchNamespace(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if warned := strings.Contains(log.String(), "different HTTPClient"); warned != c.warns || (watches > 0) != c.warns || (client == nil) != (c.client == nil) {
			t.Errorf("%s: %d watches, the client %v, the log %q", name, watches, client, log.String())
		}
	}
}

// The returned client keeps the optional methods of the given one.
func TestLocatorIsTransparent(t *testing.T) {
	obs, _ := observertest.New(t)
	inner := &closable{}
	client, _ := informer.NewInformerFunc(obs, &http.Client{Transport: inner, Timeout: 7})
	client.CloseIdleConnections()
	wrapper, ok := client.Transport.(utilnet.RoundTripperWrapper)
	if !inner.closed || client.Timeout != 7 || !ok || wrapper.WrappedRoundTripper() != http.RoundTripper(inner) {
		t.Errorf("connections closed: %t, timeout %v, transport %T", inner.closed, client.Timeout, client.Transport)
	}
	if client, _ := informer.NewInformerFunc(obs, &http.Client{}); client.Transport.(utilnet.RoundTripperWrapper).WrappedRoundTripper() != http.DefaultTransport {
		t.Errorf("the default transport became %T", client.Transport)
	}
}

type closable struct {
	http.RoundTripper
	closed bool
}

func (c *closable) CloseIdleConnections() { c.closed = true }
