package client

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/http"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// endless responds with a part again and again, up to 256 MiB.
func endless(status int, contentType, before, part string) http.HandlerFunc {
	chunk := bytes.Repeat([]byte(part), max(1, 64<<10/len(part)))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, err := w.Write([]byte(before))
		for n := 0; err == nil && n < 256<<20; n += len(chunk) {
			_, err = w.Write(chunk)
		}
	}
}

// Regardless of what an API server sends, each client of the exporter allocates a bounded amount of memory, and returns an error.
func TestEveryResponseIsBounded(t *testing.T) {
	const limit, most = 192 << 20, 128 << 20 // buffers that grow to 16 MiB, and garbage
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	debug.SetMemoryLimit(limit)
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	type call func(*testing.T, *Connection) error
	watched := func(w watch.Interface, err error) error {
		if err != nil {
			return err
		}
		defer w.Stop()
		for event := range w.ResultChan() {
			if event.Type == watch.Error {
				break
			}
		}
		return http.ErrAbortHandler // the watch has ended
	}
	calls := map[string]call{
		"list of metadata": func(t *testing.T, c *Connection) error {
			_, err := c.Metadata.Resource(pods).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"object as metadata": func(t *testing.T, c *Connection) error {
			_, err := c.Metadata.Resource(pods).Namespace("a").Get(t.Context(), "a", metav1.GetOptions{})
			return err
		},
		"list of whole objects": func(t *testing.T, c *Connection) error {
			_, err := c.Whole.Dynamic.Resource(widgets).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"list of Leases": func(t *testing.T, c *Connection) error {
			_, err := c.Whole.Leases.Leases("a").List(t.Context(), metav1.ListOptions{})
			return err
		},
		"Lease of an election": func(t *testing.T, c *Connection) error {
			leases, err := c.Leases(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			_, err = leases.Leases("a").Get(t.Context(), "a", metav1.GetOptions{})
			return err
		},
		"discovery": func(t *testing.T, c *Connection) error {
			_, _, err := c.Discover(t.Context())
			return err
		},
		"watch of metadata": func(t *testing.T, c *Connection) error {
			return watched(c.Metadata.Resource(pods).Watch(t.Context(), metav1.ListOptions{}))
		},
		"watch of whole objects": func(t *testing.T, c *Connection) error {
			return watched(c.Whole.Dynamic.Resource(widgets).Watch(t.Context(), metav1.ListOptions{}))
		},
		"watch of Leases": func(t *testing.T, c *Connection) error {
			return watched(c.Whole.Leases.Leases("a").Watch(t.Context(), metav1.ListOptions{}))
		},
		"schema": func(t *testing.T, c *Connection) error {
			_, err := c.Whole.Schemas.Observed(t.Context(), widgets)
			return err
		},
	}
	unknown := func(kind string, raw string) string {
		begin := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: kind}}
		head, err := begin.TypeMeta.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return "k8s\x00\x0a" + string(binary.AppendUvarint(nil, uint64(len(head)))) + string(head) + "\x12" + string(binary.AppendUvarint(nil, 1<<40)) + raw
	}
	const json, protobuf = runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	for name, serve := range map[string]http.HandlerFunc{
		"empty items in JSON":      endless(200, json, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{}`, ",{}"),
		"empty groups":             endless(200, json, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{}`, ",{}"),
		"empty resources":          endless(200, json, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"versions":[{}`, ",{}"),
		"empty Leases":             endless(200, json, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","items":[{}`, ",{}"),
		"empty items in protobuf":  endless(200, protobuf, unknown("PartialObjectMetadataList", ""), "\x12\x00"),
		"an unknown kind":          endless(200, protobuf, unknown("SecretList", ""), "\x12\x00"),
		"white space":              endless(200, json, "", " "),
		"white space in an object": endless(200, json, "{", "\n"),
		"a text":                   endless(200, json, `{"kind":"`, "x"),
		"escapes":                  endless(200, json, `{"metadata":{"name":"`, `\"`),
		"a number":                 endless(200, json, `{"metadata":{"generation":`, "1"),
		"members":                  endless(200, json, `{"metadata":{"name":"a"`, `,"name":"a"`),
		"an event":                 endless(200, json, `{"type":"ADDED","object":{"metadata":{"name":"`, "x"),
		"finalizers":               endless(200, json, `{"type":"ADDED","object":{"metadata":{"finalizers":[""`, `,""`),
		"annotations":              endless(200, json, `{"type":"ADDED","object":{"metadata":{"annotations":{"a":"b"`, `,"k8s.io/initial-events-end":"b"`),
		"a frame":                  endless(200, protobuf, "\x00\xff\xff\xff\x0a\x05ADDED\x12\xff\xff\xff\x07\x0a\xff\xff\xff\x07", "\x00"),
		"a frame of 4 GiB":         endless(200, protobuf, "\xff\xff\xff\xff", "\x0a\x01A"),
		"noise as protobuf":        endless(200, protobuf, "k8s\x00", "\x0a"),
		"YAML":                     endless(200, "application/yaml", "", "a: &a [*a,*a]\n"),
		"CBOR":                     endless(200, "application/cbor", "", "\x9f"),
		"an error":                 endless(403, json, `{"kind":"Status","apiVersion":"v1","message":"`, "x"),
		"an error with causes":     endless(500, json, `{"kind":"Status","apiVersion":"v1","details":{"causes":[{}`, ",{}"),
		"an error in YAML":         endless(403, "application/yaml", "", "a: [{},{},{}]\n"),
		"an error in protobuf":     endless(403, protobuf, unknown("Status", ""), "\x2a\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			for request, do := range calls {
				connection := connectTo(t, serve)
				var err error
				if n := allocated(func() { err = do(t, connection) }); n > most {
					t.Errorf("%s: %d MiB", request, n>>20)
				}
				if err == nil {
					t.Errorf("%s: no error", request)
				} else if text := err.Error(); len(text) > 4<<10 || strings.Count(text, "x") > 2<<10 {
					t.Errorf("%s: an error of %d bytes", request, len(text))
				}
			}
		})
	}
}

// allocated returns the bytes that f and everything beside it allocate, whether or not they are still in use: more than the heap grows
// at any time.
func allocated(f func()) uint64 {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	f()
	goruntime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
