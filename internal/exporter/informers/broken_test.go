package informers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
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

// paged is a resource with several pages.
type paged struct{ err error }

func (p *paged) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "next"}}, p.err
}

func (p *paged) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// An audit that fails changes nothing for an informer with an open watch. A list of the informer that fails does.
func TestFailedAudit(t *testing.T) {
	exact := metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 1000}
	next := metav1.ListOptions{Continue: "next", Limit: 1000}
	for _, err := range []error{apierrors.NewInternalError(errors.New("broken")), apierrors.NewForbidden(schema.GroupResource{}, "", nil)} {
		a := availability.NewTracker(slog.New(slog.DiscardHandler))
		pods := &paged{}
		lw := listWatch(pods, Spec{}, a, &backoff{})
		if _, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		list := func(options metav1.ListOptions, want error) {
			t.Helper()
			pods.err = want
			if _, err := lw.ListWithContext(t.Context(), options); !errors.Is(err, want) {
				t.Fatal(err)
			}
		}
		list(exact, nil)
		list(next, err)
		list(exact, err)
		if s := a.Status(); s.Answer != availability.Up || s.Unreachable {
			t.Errorf("after audits that failed with %v: %+v", err, s)
		}
		list(metav1.ListOptions{ResourceVersion: "0"}, err)
		if s := a.Status(); s.Answer == availability.Up && !s.Unreachable {
			t.Errorf("after a list that failed with %v: %+v", err, s)
		}
	}
}
