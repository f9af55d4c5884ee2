package client

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// server records requests and responds with JSON.
type server struct {
	mu       sync.Mutex
	requests []*http.Request
}

func (s *server) answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text)) // fails only if the client is gone
	}
}

// take returns the requests since the last call.
func (s *server) take() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// Lists and watches request metadata of the resource and namespace, with all options that informers and checks set.
func TestMetadataRequests(t *testing.T) {
	var s server
	objects := connectTo(t, s.answer(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]}`)).Metadata
	deployments := objects.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("shop")
	list, err := deployments.List(t.Context(), metav1.ListOptions{
		Limit: 5, Continue: "next", LabelSelector: "team=shop", ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	if err != nil || list.ResourceVersion != "9" || len(list.Items) != 1 || list.Items[0].Name != "a" {
		t.Errorf("list %+v, error %v", list, err)
	}
	timeout, yes := int64(300), true
	w, err := objects.Resource(pods).Namespace("").Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: &timeout, AllowWatchBookmarks: true, SendInitialEvents: &yes, ResourceVersion: "8"})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	requests := s.take()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	for i, want := range []struct {
		path   string
		query  url.Values
		accept string
	}{
		{
			"/apis/apps/v1/namespaces/shop/deployments",
			url.Values{"limit": {"5"}, "continue": {"next"}, "labelSelector": {"team=shop"}, "resourceVersion": {"7"}, "resourceVersionMatch": {"Exact"}},
			"application/vnd.kubernetes.protobuf;drop=metadata.managedFields;as=PartialObjectMetadataList;",
		},
		{
			"/api/v1/pods",
			url.Values{"watch": {"true"}, "timeout": {"5m0s"}, "timeoutSeconds": {"300"}, "allowWatchBookmarks": {"true"}, "sendInitialEvents": {"true"}, "resourceVersion": {"8"}},
			"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;",
		},
	} {
		r := requests[i]
		if r.URL.Path != want.path || !maps.EqualFunc(r.URL.Query(), want.query, slices.Equal) || !strings.HasPrefix(r.Header.Get("Accept"), want.accept) {
			t.Errorf("%s with %v, accepted %s; want %s with %v and %s", r.URL.Path, r.URL.Query(), r.Header.Get("Accept"), want.path, want.query, want.accept)
		}
	}
}

// Lists in all namespaces are pruned, with or without a call of Namespace.
func TestPrunedLists(t *testing.T) {
	full, reduced := fullMeta("kubectl.kubernetes.io/last-applied-configuration")
	sent := encoded(t, withKind(&metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: full}}},
		metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList")))
	objects := connectTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(sent) // fails only if the client is gone
	}).Metadata.Resource(pods)
	for name, client := range map[string]metadata.ResourceInterface{"resource": objects, "all namespaces": objects.Namespace("")} {
		list, err := client.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 || !equality.Semantic.DeepEqual(list.Items[0].ObjectMeta, reduced) {
			t.Errorf("%s: %+v, error %v, want %+v", name, list, err, reduced)
		}
	}
}

// If a server sends only whole objects, their metadata is read. A failed list returns no objects.
func TestServerWithoutMetadata(t *testing.T) {
	var s server
	objects := connectTo(t, s.answer(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}]}`)).Metadata
	list, err := objects.Resource(pods).Namespace("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "a" || list.ResourceVersion != "9" {
		t.Errorf("list %+v, error %v", list, err)
	}
	failing := connectTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }).Metadata
	if list, err := failing.Resource(pods).Namespace("").List(t.Context(), metav1.ListOptions{}); err == nil || list != nil {
		t.Errorf("list %+v, error %v, want none and the error", list, err)
	}
}

// Unread fields of whole objects are dropped before decoding. Leases are read in full, in protobuf if possible.
func TestWholeObjects(t *testing.T) {
	var s server
	whole := connectTo(t, s.answer(`{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{},"items":[{"metadata":{"name":"a","generation":3,"labels":{"l":"1"}},"spec":{"text":"x"},"status":{"observedGeneration":2,"ready":true}}]}`)).Whole
	list, err := whole.Dynamic.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("list %+v, error %v", list, err)
	}
	item := list.Items[0].Object
	status, _ := item["status"].(map[string]any)
	if item["spec"] != nil || list.Items[0].GetLabels() != nil || list.Items[0].GetGeneration() != 3 || len(status) != 1 || status["observedGeneration"] != int64(2) {
		t.Errorf("item %+v", item)
	}
	if requests := s.take(); len(requests) != 1 || requests[0].URL.Path != "/apis/example.com/v1/namespaces/shop/widgets" {
		t.Errorf("requests %+v", requests)
	}
	leases := connectTo(t, s.answer(`{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"a"},"spec":{"holderIdentity":"b"}}]}`)).Whole.Leases
	held, err := leases.Leases("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(held.Items) != 1 || held.Items[0].Spec.HolderIdentity == nil || *held.Items[0].Spec.HolderIdentity != "b" {
		t.Errorf("Leases %+v, error %v", held, err)
	}
	if requests := s.take(); len(requests) != 1 || requests[0].Header.Get("Accept") != "application/vnd.kubernetes.protobuf,application/json" {
		t.Errorf("requests %+v", requests)
	}
}

// An unusable configuration is an error with the address of the API server and the reason.
func TestConnectErrors(t *testing.T) {
	observe := func(c *rest.Config) *rest.Config { return c }
	for reason, unusable := range map[string]*rest.Config{
		"testdata/none":      {Host: "https://api.example.com", TLSClientConfig: rest.TLSClientConfig{CAFile: "testdata/none"}},
		"host must be a URL": {Host: "https://api example.com"},
	} {
		if _, err := Connect(unusable, "test", observe, nil); err == nil || !strings.HasPrefix(err.Error(), "client for "+unusable.Host+": ") || !strings.Contains(err.Error(), reason) {
			t.Errorf("error %v, want one with the server and %q", err, reason)
		}
	}
}
