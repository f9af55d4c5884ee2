package hostile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// hostileCase is a resource with the false data that the server returns for it.
type hostileCase struct {
	// Resource is the name of the resource in hostileGroup.
	Resource string
	// Does describes the behavior of the server.
	Does string

	serve func(*request)
}

// hostileCases lists all cases.
var hostileCases = []hostileCase{
	{"wrongkinds", "sends Secrets, Statuses and lists instead of objects", func(q *request) {
		if !q.watch {
			q.header(runtime.ContentTypeJSON)
			fmt.Fprint(q, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"password":"cGFzc3dvcmQ="}}`)
			return
		}
		q.header(runtime.ContentTypeJSON)
		q.send("ADDED", map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]string{"password": "cGFzc3dvcmQ="}})
		q.send("ADDED", map[string]any{"kind": "PodList", "apiVersion": "v1", "items": []any{}})
		q.send("MODIFIED", metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
		q.flush()
		q.wait()
	}},
	{"unknownevents", "sends events of unknown types or without an object, and errors without a status", func(q *request) {
		if !q.watch {
			q.honest(version, q.object(0))
			return
		}
		q.header(runtime.ContentTypeJSON)
		q.send([]string{"", "EXPLODED", "ERROR", "ADDED"}[q.random.IntN(4)], nil)
		q.flush()
		q.wait()
	}},
	{"hugelists", "lists 50,000 objects in one page", func(q *request) {
		objects := make([]*object, 50_000)
		for i := range objects {
			objects[i] = q.object(i)
		}
		q.honest(strconv.Itoa(len(objects)), objects...)
	}},
	{"endlesspages", "never sends the last page of a list", func(q *request) {
		if q.unsupported() {
			return
		}
		if q.watch {
			q.honest(version)
			return
		}
		page, _ := strconv.Atoi(q.r.URL.Query().Get("continue"))
		objects := make([]*object, 500)
		for i := range objects {
			objects[i] = q.object(page*len(objects) + i)
		}
		q.list(version, strconv.Itoa(page+1), objects...)
	}},
	{"slowresponses", "sends each response at one byte per tenth of a second", func(q *request) {
		q.header(runtime.ContentTypeJSON)
		for _, b := range []byte(`{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"` + strings.Repeat("a", 1<<20)) {
			_, _ = q.Write([]byte{b}) // wait returns if the client has disconnected
			if q.flush(); !q.wait(100 * time.Millisecond) {
				return
			}
		}
	}},
	{"silence", "accepts requests and never responds", func(q *request) { <-q.r.Context().Done() }},
	{"garbage", "sends random bytes as protobuf", func(q *request) {
		q.header(runtime.ContentTypeProtobuf)
		_, _ = q.Write(q.noise(1 + q.random.IntN(64<<10))) // fails only if the client has disconnected
	}},
	{"garbled", "sends valid protobuf with a few changed bytes", func(q *request) {
		q.header(runtime.ContentTypeProtobuf)
		raw := encoded(q.object(q.random.IntN(10)))
		if q.watch {
			for range 20 {
				_, _ = q.Write(q.garble(frame("ADDED", slices.Clone(raw)))) // fails only if the client has disconnected
			}
			return
		}
		_, _ = q.Write(q.garble(raw)) // fails only if the client has disconnected
	}},
	{"halfjson", "ends each response in the middle of its JSON", func(q *request) {
		q.header(runtime.ContentTypeJSON)
		text := `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"default","labels":{"a":"b"}}}}`
		fmt.Fprint(q, text[:1+q.random.IntN(len(text)-1)])
	}},
	{"deepjson", "nests JSON a million levels deep", func(q *request) {
		q.header(runtime.ContentTypeJSON)
		fmt.Fprint(q, `{"type":"ADDED","object":{"metadata":{"labels":`+strings.Repeat(`[`, 1_000_000))
		q.flush()
	}},
	{"duplicateuids", "lists 100 objects with one UID", func(q *request) {
		objects := make([]*object, 100)
		for i := range objects {
			objects[i] = q.object(min(i, 50))
			objects[i].UID = "b0d4e0a6-5c1d-4f37-9a51-000000000000"
		}
		q.honest(version, objects...)
	}},
	{"jumpingversions", "sends resource versions that jump, overflow or are not numbers", func(q *request) {
		versions := []string{"1", "18446744073709551615", "18446744073709551616", "-1", "", "abc", "0x10", "1e9", "5", "99999999999999999999999999"}
		if !q.watch {
			q.list(versions[q.random.IntN(len(versions))], "", q.object(0))
			return
		}
		q.initial(version, q.object(0))
		for q.wait(50 * time.Millisecond) {
			o := q.object(0)
			o.ResourceVersion = versions[q.random.IntN(len(versions))]
			q.send("MODIFIED", o)
			q.flush()
		}
	}},
	{"futurebookmarks", "sends bookmarks of versions far ahead of its events", func(q *request) {
		if !q.watch {
			q.honest(version, q.object(0))
			return
		}
		q.initial(version, q.object(0))
		for i := 1; q.wait(100 * time.Millisecond); i++ {
			q.send("BOOKMARK", &object{TypeMeta: objectType, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9223372036854775807"}})
			o := q.object(0)
			o.ResourceVersion = strconv.Itoa(1000 + i)
			q.send("MODIFIED", o)
			q.flush()
		}
	}},
	{"othernamespaces", "sends objects of other namespaces, and of none", func(q *request) {
		a, b := q.object(0), q.object(1)
		a.Namespace, b.Namespace = "kube-system", ""
		q.honest(version, a, b, q.object(2))
	}},
	{"giantlabels", "lists terminating objects with labels, names and finalizers of a megabyte, invalid UTF-8 or quotes", func(q *request) {
		deleted := metav1.NewTime(time.Unix(1_700_000_000, 0))
		giant := strings.Repeat("x", 1<<20)
		a, b, c := q.object(0), q.object(1), q.object(2)
		a.Labels, a.Finalizers, a.DeletionTimestamp = map[string]string{giant: giant}, []string{giant}, &deleted
		b.Name, b.UID, b.Finalizers, b.DeletionTimestamp = giant, types.UID(giant), []string{"\xff\xfe\"} 1\nforged 1"}, &deleted
		for i := range 1000 {
			c.Finalizers = append(c.Finalizers, fmt.Sprintf("%08x.example.com/%d", q.random.Uint32(), i))
		}
		c.DeletionTimestamp = &deleted
		q.honest(version, a, b, c)
	}},
	{"gzipbombs", "compresses 4 GiB of spaces to 4 MiB", func(q *request) {
		if q.unsupported() {
			return
		}
		q.header(runtime.ContentTypeJSON)
		q.Header().Set("Content-Encoding", "gzip")
		for range 64 {
			if _, err := q.Write(bomb()); err != nil {
				return
			}
		}
	}},
	{"tinyitems", "compresses a million empty objects to 2 KiB", func(q *request) {
		if q.unsupported() {
			return
		}
		if q.watch {
			q.honest(version)
			return
		}
		q.header(runtime.ContentTypeProtobuf)
		q.Header().Set("Content-Encoding", "gzip")
		_, _ = q.Write(tinyItems()) // fails only if the client has disconnected
	}},
	{"endlessframe", "compresses an event of a watch that never ends", func(q *request) {
		if !q.watch {
			q.honest(version)
			return
		}
		q.header(runtime.ContentTypeJSON)
		q.Header().Set("Content-Encoding", "gzip")
		for range 64 {
			if _, err := q.Write(bomb()); err != nil {
				return
			}
			q.flush()
		}
		q.wait()
	}},
	{"longmessages", "returns errors of 10 MiB with changing status", func(q *request) {
		i := int(q.server.requests.Load() % 3)
		q.header(runtime.ContentTypeJSON)
		q.WriteHeader([]int{403, 404, 405}[i])
		_ = json.NewEncoder(q).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32([]int{403, 404, 405}[i]),
			Reason: []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonNotFound, metav1.StatusReasonMethodNotAllowed}[i], Message: strings.Repeat("x", 10<<20)})
	}},
	{"warnings", "adds 100 new warnings to each response", func(q *request) {
		n := q.server.requests.Load()
		for i := range 100 {
			q.Header().Add("Warning", fmt.Sprintf("299 - \"%d %d %s\"", n, i, strings.Repeat("w", 1000)))
		}
		q.honest(version, q.object(0))
	}},
	{"redirects", "redirects to a server outside the cluster", func(q *request) {
		http.Redirect(q, q.r, q.server.elsewhere.URL+q.r.URL.Path, http.StatusTemporaryRedirect)
	}},
	{"circles", "redirects to itself", func(q *request) {
		http.Redirect(q, q.r, q.r.URL.String(), http.StatusPermanentRedirect)
	}},
	{"wrongtypes", "sends HTML, the wrong content type, and none", func(q *request) {
		q.header([]string{"text/html", runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, "application/json;charset=\x01", "a/b/c"}[q.random.IntN(5)])
		fmt.Fprint(q, []string{"<html>Log in first</html>", `{"type":"ADDED","object":{}}`, string(encoded(q.object(0)))}[q.random.IntN(3)])
	}},
	{"giantheaders", "sends headers of 16 MiB", func(q *request) {
		for i := range 16 {
			q.Header().Set(fmt.Sprintf("X-Giant-%d", i), strings.Repeat("x", 1<<20))
		}
		q.honest(version, q.object(0))
	}},
	{"retryafter", "asks clients to retry in 30 years", func(q *request) {
		q.Header().Set("Retry-After", "1000000000")
		q.status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	}},
	{"contradictions", "returns errors with status 200, and objects with status 500", func(q *request) {
		if q.random.IntN(2) == 0 {
			q.status(http.StatusOK, metav1.StatusReasonForbidden)
			return
		}
		q.header(runtime.ContentTypeJSON)
		q.WriteHeader(http.StatusInternalServerError)
		q.send("ADDED", q.object(0))
	}},
}

// bomb returns 64 MiB of spaces, compressed. Several in a row are a valid stream.
var bomb = sync.OnceValue(func() []byte {
	b := new(bytes.Buffer)
	z, _ := gzip.NewWriterLevel(b, gzip.BestCompression) // a valid level
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for range 64 {
		_, _ = z.Write(spaces) // into a buffer
	}
	_ = z.Close()
	return b.Bytes()
})

// tinyItems is a list of a million objects without a name: 2 MiB in protobuf, 2 KiB compressed.
var tinyItems = sync.OnceValue(func() []byte {
	list := append([]byte{0x0a, 0x03, 0x12, 0x01, '5'}, bytes.Repeat([]byte{0x12, 0x00}, 1<<20)...)
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, Raw: list}
	raw, _ := unknown.Marshal()
	b := new(bytes.Buffer)
	z, _ := gzip.NewWriterLevel(b, gzip.BestCompression)
	_, _ = z.Write(append([]byte("k8s\x00"), raw...))
	_ = z.Close()
	return b.Bytes()
})
