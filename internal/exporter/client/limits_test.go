package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

func metadataObject(m metav1.ObjectMeta) runtime.Object {
	return withKind(&metav1.PartialObjectMetadata{ObjectMeta: m}, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
}

func decodedMeta(t *testing.T, sent []byte) metav1.ObjectMeta {
	t.Helper()
	object, _, err := metaCodec.Decode(sent, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*metav1.PartialObjectMetadata).ObjectMeta
}

// Events in protobuf keep their type and their pruned object.
func TestPruneEvents(t *testing.T) {
	full, _ := fullMeta("a")
	object := encoded(t, metadataObject(full))
	var sent []byte
	for _, kind := range []string{"ADDED", "DELETED"} {
		event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}
		raw, err := event.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		sent = append(binary.BigEndian.AppendUint32(sent, uint32(len(raw))), raw...)
	}
	pruned, err := prune(metadataContent, true, true, sent)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := prune(metadataContent, true, false, object)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ADDED", "DELETED"} {
		size := 4 + int(binary.BigEndian.Uint32(pruned))
		var event metav1.WatchEvent
		if err := event.Unmarshal(pruned[4:size]); err != nil {
			t.Fatal(err)
		}
		if got, want := decodedMeta(t, event.Object.Raw), decodedMeta(t, alone); event.Type != kind || !reflect.DeepEqual(got, want) {
			t.Errorf("got %s with\n%+v, want %s with\n%+v", event.Type, got, kind, want)
		}
		pruned = pruned[size:]
	}
	if len(pruned) > 0 {
		t.Errorf("%d bytes follow the events", len(pruned))
	}
}

// Long texts are cut, in both encodings.
func TestPruneLongTexts(t *testing.T) {
	long := strings.Repeat("x", 300)
	want := bounded.Text(long)
	got, err := prune(metadataContent, true, false, encoded(t, metadataObject(metav1.ObjectMeta{
		Name: long, Namespace: long, UID: types.UID(long), ResourceVersion: long, Finalizers: []string{long},
		ManagedFields: []metav1.ManagedFieldsEntry{{Subresource: long}},
	})))
	if err != nil {
		t.Fatal(err)
	}
	m := decodedMeta(t, got)
	for name, text := range map[string]string{
		"name": m.Name, "namespace": m.Namespace, "uid": string(m.UID), "resourceVersion": m.ResourceVersion,
		"finalizer": m.Finalizers[0], "subresource": m.ManagedFields[0].Subresource,
	} {
		if text != want {
			t.Errorf("the %s in protobuf becomes %q, want %q", name, text, want)
		}
	}
	inJSON, err := prune(wholeContent, false, false, []byte(`{"metadata":{"uid":"`+long+`"}}`))
	if sent := `{"metadata":{"uid":"` + want + `"}}`; err != nil || strings.TrimSpace(string(inJSON)) != sent {
		t.Errorf("got %s, %v, want %s", inJSON, err, sent)
	}
}

// An annotation ends a streaming list only in an entry of at most 256 bytes: longer ones are not decoded.
func TestLongAnnotations(t *testing.T) {
	entry := func(value int) int { return len(metav1.InitialEventsAnnotationKey) + value + 2 + 3 } // with the headers of key and value
	for _, size := range []int{256, 257} {
		value := strings.Repeat("v", 200)
		value += strings.Repeat("v", size-entry(len(value)))
		got, err := prune(metadataContent, true, false, encoded(t, metadataObject(metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: value}})))
		if err != nil {
			t.Fatal(err)
		}
		if kept := decodedMeta(t, got).Annotations != nil; kept != (size <= 256) {
			t.Errorf("an entry of %d bytes: kept is %v", size, kept)
		}
	}
}

// An object with two types is refused: the decoder would take the last one, and the filter knows only the first.
func TestPruneTwoTypes(t *testing.T) {
	meta, err := (&runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	one := protowire.AppendBytes(protowire.AppendTag(nil, unknownTypeMeta, protowire.BytesType), meta)
	for types, want := range map[int]error{1: nil, 2: bounded.ErrInvalid} {
		sent := append([]byte("k8s\x00"), bytes.Repeat(one, types)...)
		if _, err := prune(metadataContent, true, false, sent); !errors.Is(err, want) {
			t.Errorf("%d types: %v, want %v", types, err, want)
		}
	}
}

// The memory of a response may reach its limit, and not exceed it.
func TestExactLimit(t *testing.T) {
	const sent = `{"a":1}`
	need := bounded.SizeOfMap + len(sent)
	for limit, want := range map[int]error{need: nil, need - 1: ErrTooLarge} {
		if _, err := prune(&content{limit: limit}, false, false, []byte(sent)); !errors.Is(err, want) {
			t.Errorf("limit %d: %v, want %v", limit, err, want)
		}
	}
}

// Bodies of errors end after 64 KiB, or after 1 KiB if they are no object.
func TestErrorsAreLimited(t *testing.T) {
	for media, want := range map[string]int{runtime.ContentTypeJSON: 64 << 10, "text/html": 1 << 10} {
		server := httptest.NewServer(endless(http.StatusForbidden, media, "", " "))
		response, err := bounded.Client(server.Client(), nil).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || len(body) != want {
			t.Errorf("%s: %d bytes, %v, want %d", media, len(body), err, want)
		}
		_ = response.Body.Close() // before the server, which sends without end
		server.Close()
	}
}

// Requests for the Lease of an election end with their timeout.
func TestLeasesTimeout(t *testing.T) {
	c := connectTo(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	leases, err := c.Leases(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leases.Leases("a").Get(t.Context(), "a", metav1.GetOptions{}); err == nil || t.Context().Err() != nil {
		t.Errorf("error %v", err)
	}
}
