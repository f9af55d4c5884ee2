package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// BenchmarkList measures a page of 500 objects, with managedFields, in protobuf as metadata and in JSON as whole objects.
func BenchmarkList(b *testing.B) {
	full, _ := fullMeta("kubectl.kubernetes.io/last-applied-configuration")
	full.DeletionTimestamp, full.Finalizers = nil, nil
	list := &metav1.PartialObjectMetadataList{}
	var whole bytes.Buffer
	whole.WriteString(`{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9"},"items":[`)
	for i := range 500 {
		full.Name = fmt.Sprintf("object-%d", i)
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: full})
		meta, err := json.Marshal(full)
		if err != nil {
			b.Fatal(err)
		}
		if i > 0 {
			whole.WriteByte(',')
		}
		fmt.Fprintf(&whole, `{"metadata":%s,"spec":{"containers":[%s,%s]},"status":{"observedGeneration":3,"conditions":[%s]}}`, meta, meta, meta, meta)
	}
	whole.WriteString(`]}`)
	sent := encoded(b, withKind(list, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList")))
	for _, c := range []struct {
		name, contentType string
		body              []byte
		list              func(*Connection) (int, error)
	}{
		{"metadata", "application/vnd.kubernetes.protobuf", sent, func(c *Connection) (int, error) {
			list, err := c.Metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).List(b.Context(), metav1.ListOptions{})
			if err != nil {
				return 0, err
			}
			return len(list.Items), nil
		}},
		{"whole", "application/json", whole.Bytes(), func(c *Connection) (int, error) {
			list, err := c.Whole.Dynamic.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).List(b.Context(), metav1.ListOptions{})
			if err != nil {
				return 0, err
			}
			return len(list.Items), nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				_, _ = w.Write(c.body) // fails only if the client is gone
			}))
			defer server.Close()
			connection, err := Connect(&rest.Config{Host: server.URL, QPS: -1}, "test", func(c *rest.Config) *rest.Config {
				c.RateLimiter = nil
				c.QPS = -1
				return c
			}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer connection.Disconnect()
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if n, err := c.list(connection); err != nil || n != 500 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
