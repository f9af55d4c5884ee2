package hostile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
)

// request is a list or watch of the resource of a case.
type request struct {
	http.ResponseWriter
	r                *http.Request
	server           *hostileServer
	namespace        string
	watch, streaming bool
	random           *rand.Rand
}

type object = metav1.PartialObjectMetadata

// version is the resource version of honest responses.
const version = "1000"

var objectType = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}

// object returns the i-th object.
func (q *request) object(i int) *object {
	return &object{TypeMeta: objectType, ObjectMeta: metav1.ObjectMeta{
		Namespace: q.namespace, Name: fmt.Sprintf("object-%d", i), UID: types.UID(fmt.Sprintf("b0d4e0a6-5c1d-4f37-9a51-%012x", i)),
		ResourceVersion: strconv.Itoa(i + 1), CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
	}}
}

// bookmark returns the object of the bookmark that ends a streaming list.
func (q *request) bookmark(version string) *object {
	return &object{TypeMeta: objectType, ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
}

// page is a list as JSON.
type page struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []*object `json:"items"`
}

// list responds with objects, in one page unless next is set.
func (q *request) list(version, next string, objects ...*object) {
	q.header(runtime.ContentTypeJSON)
	list := page{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, Items: objects}
	list.ResourceVersion, list.Continue = version, next
	_ = json.NewEncoder(q).Encode(list) // fails only if the client has disconnected
}

func (q *request) header(contentType string) {
	q.Header().Set("Content-Type", contentType)
}

// send sends an event of a watch.
func (q *request) send(kind string, object any) {
	raw, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err == nil {
		_, _ = q.Write(append(raw, '\n')) // fails only if the client has disconnected
	}
}

// initial responds to a watch with objects, if the client requests them, and the end of the list. wait keeps the watch open.
func (q *request) initial(version string, objects ...*object) {
	q.header(runtime.ContentTypeJSON)
	if q.streaming {
		for _, o := range objects {
			q.send("ADDED", o)
		}
		q.send("BOOKMARK", q.bookmark(version))
	}
	q.flush()
}

// honest responds with objects, and ends a watch at its timeout.
func (q *request) honest(version string, objects ...*object) {
	if !q.watch {
		q.list(version, "", objects...)
		return
	}
	q.initial(version, objects...)
	q.wait()
}

// unsupported rejects streaming lists, so that the client lists, and reports whether it has responded.
func (q *request) unsupported() bool {
	if q.streaming {
		q.status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	}
	return q.streaming
}

func (q *request) status(code int, reason metav1.StatusReason) {
	q.header(runtime.ContentTypeJSON)
	q.WriteHeader(code)
	_ = json.NewEncoder(q).Encode(metav1.Status{ // fails only if the client has disconnected
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code), Message: string(reason),
	})
}

func (q *request) flush() { _ = http.NewResponseController(q.ResponseWriter).Flush() } // fails only if the client has disconnected

// wait waits until the watch times out or the client has disconnected, for at most d. It returns false if the client has
// disconnected.
func (q *request) wait(d ...time.Duration) bool {
	seconds, err := strconv.Atoi(q.r.URL.Query().Get("timeoutSeconds"))
	limit := time.Duration(seconds) * time.Second
	if err != nil {
		limit = time.Hour
	}
	if len(d) > 0 {
		limit = d[0]
	}
	select {
	case <-time.After(limit):
		return true
	case <-q.r.Context().Done():
		return false
	}
}

// encoded returns the protobuf encoding of an object.
func encoded(o *object) []byte {
	raw := new(bytes.Buffer)
	_ = protobuf.NewSerializer(nil, nil).Encode(o, raw) // into a buffer
	return raw.Bytes()
}

// frame returns an event of a watch as protobuf, with its length in front.
func frame(kind string, raw []byte) []byte {
	event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}}
	message, _ := event.Marshal() // into a buffer
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// garble changes bytes at random places.
func (q *request) garble(raw []byte) []byte {
	for range 1 + q.random.IntN(8) {
		raw[q.random.IntN(len(raw))] = byte(q.random.Uint32())
	}
	return raw
}

// noise returns random bytes.
func (q *request) noise(n int) []byte {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(q.random.Uint32())
	}
	return raw
}

func replaceBody(response *http.Response, object any) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(raw))
	response.ContentLength = int64(len(raw))
	response.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}
