package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// standInGroup serves all resources, in version v1.
const standInGroup = "bench.example.com"

// standIn is a server that streams the metadata of any number of objects, as an API server does. It stores nothing: a million
// objects are computed when they are sent. It measures clients at sizes that a real API server and its etcd do not reach on one
// machine.
type standIn struct {
	server  *httptest.Server
	objects map[string]int // by resource
	list    metav1.APIResourceList

	mu       sync.Mutex
	requests map[string]int
}

// startStandIn starts a server with the given numbers of objects and resources. The first five resources have two fifths, a fifth, a
// fifth, a tenth and a tenth of the objects. Every other resource has ten additional objects. The caller must call Close.
func startStandIn(objects, resources int) *standIn {
	s := &standIn{objects: map[string]int{}, requests: map[string]int{}}
	s.list = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: standInGroup + "/v1"}
	for i := range resources {
		name := fmt.Sprintf("things%03d", i)
		s.objects[name] = 10
		if parts := []int{4, 2, 2, 1, 1}; i < len(parts) {
			s.objects[name] = objects * parts[i] / 10
		}
		s.list.APIResources = append(s.list.APIResources, metav1.APIResource{
			Name: name, SingularName: strings.TrimSuffix(name, "s"), Kind: fmt.Sprintf("Thing%03d", i), Namespaced: true, Verbs: metav1.Verbs{"list", "watch", "get"},
		})
	}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server.EnableHTTP2 = true
	s.server.StartTLS()
	return s
}

// Config returns a client configuration.
func (s *standIn) Config() *rest.Config {
	certificate := new(bytes.Buffer)
	fmt.Fprintf(certificate, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", base64.StdEncoding.EncodeToString(s.server.Certificate().Raw))
	return &rest.Config{Host: s.server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: certificate.Bytes()}}
}

// Close ends all watches and the server.
func (s *standIn) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// Requests returns the number of watches by resource, without freshness checks, since the last call.
func (s *standIn) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = map[string]int{}
	return requests
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; path {
	case "/api":
		sendJSON(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}})
	case "/apis":
		version := metav1.GroupVersionForDiscovery{GroupVersion: standInGroup + "/v1", Version: "v1"}
		sendJSON(w, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
			{Name: standInGroup, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version},
		}})
	case "/apis/" + standInGroup + "/v1":
		sendJSON(w, s.list)
	default:
		resource, found := strings.CutPrefix(path, "/apis/"+standInGroup+"/v1/")
		n, served := s.objects[resource]
		if !found || !served {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		if r.URL.Query().Get("watch") != "" {
			if r.URL.Query().Get("timeoutSeconds") != "1" {
				s.mu.Lock()
				s.requests[resource]++
				s.mu.Unlock()
			}
			s.watch(w, r, resource, n)
			return
		}
		s.page(w, r, resource, n)
	}
}

func sendJSON(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(object) // fails only if the client has disconnected
}

const standInVersion = "1000000"

// page serves a list.
func (s *standIn) page(w http.ResponseWriter, r *http.Request, resource string, n int) {
	first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	last := n
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}}
	list.ResourceVersion = standInVersion
	if limit > 0 && first+limit < n {
		last = first + limit
		remaining := int64(n - last)
		list.Continue, list.RemainingItemCount = strconv.Itoa(last), &remaining
	}
	for i := first; i < last; i++ {
		list.Items = append(list.Items, *standInObject(resource, i))
	}
	_ = protobuf.NewSerializer(nil, nil).Encode(list, w) // fails only if the client has disconnected
}

// watch serves a watch, with all objects if the client requests a streaming list. It ends after the client's timeout.
func (s *standIn) watch(w http.ResponseWriter, r *http.Request, resource string, n int) {
	seconds, err := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	if err != nil {
		seconds = 600
	}
	end := time.After(time.Duration(seconds) * time.Second)
	buffer := new(bytes.Buffer)
	flush := func() bool {
		_, err := w.Write(buffer.Bytes())
		buffer.Reset()
		w.(http.Flusher).Flush()
		return err == nil
	}
	serializer := protobuf.NewSerializer(nil, nil)
	send := func(kind string, o *metav1.PartialObjectMetadata) {
		raw := new(bytes.Buffer)
		_ = serializer.Encode(o, raw) // into a buffer
		event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw.Bytes()}}
		frame, _ := event.Marshal()
		buffer.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
		buffer.Write(frame)
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for i := range n {
			if send("ADDED", standInObject(resource, i)); buffer.Len() > 64<<10 && !flush() {
				return
			}
		}
		synced := &metav1.PartialObjectMetadata{TypeMeta: standInType}
		synced.ResourceVersion = standInVersion
		synced.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		send("BOOKMARK", synced)
	}
	flush()
	select {
	case <-end:
	case <-r.Context().Done():
	}
}

var standInType = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}

// object returns an object with the metadata of a Pod of a ReplicaSet: labels, an owner and two field managers.
func standInObject(resource string, i int) *metav1.PartialObjectMetadata {
	managed := func(manager, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
		}
	}
	return &metav1.PartialObjectMetadata{TypeMeta: standInType, ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf("shop-%02d", i%50), Name: fmt.Sprintf("frontend-7d4b9c6f5d-%06x", i), GenerateName: "frontend-7d4b9c6f5d-",
		UID: types.UID(fmt.Sprintf("b0d4e0a6-5c1d-4f37-9a51-%012x", i)), ResourceVersion: strconv.Itoa(i + 1), Generation: 1, CreationTimestamp: created,
		Labels: map[string]string{
			"app.kubernetes.io/name": "frontend", "app.kubernetes.io/instance": resource, "app.kubernetes.io/managed-by": "helm", "pod-template-hash": "7d4b9c6f5d",
		},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "frontend-7d4b9c6f5d", UID: "b0d4e0a6-5c1d-4f37-9a51-0b6a4b1f0d2c"}},
		ManagedFields:   []metav1.ManagedFieldsEntry{managed("kube-controller-manager", ""), managed("kubelet", "status")},
	}}
}

var (
	created = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	fields  = `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"b0d4e0a6-5c1d-4f37-9a51-0b6a4b1f0d2c\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"frontend\"}":{".":{},"f:env":{},"f:image":{},"f:ports":{}}}}}`
)
