package informers

import (
	"log/slog"
	"net"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
)

// A load balancer without a server behind it accepts connections and closes them. No server has responded, so no resource
// is up, although client-go reports such a watch as opened.
func TestBrokenConnectionIsNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	client, err := metadata.NewForConfig(&rest.Config{Host: "http://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	a := availability.NewTracker(slog.New(slog.DiscardHandler))
	lw := listWatch(client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}), Spec{}, a, &backoff{})
	w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err == nil {
		w.Stop()
	}
	if s := a.Status(); s.Answer == availability.Up || !s.Unreachable {
		t.Errorf("after a connection that broke: %+v", s)
	}
}
