package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// An API server that hangs delays the command once, not for each object. An interrupt ends the request.
func TestAgesOfAHangingServer(t *testing.T) {
	for _, tc := range []struct {
		interrupt bool
		timeout   time.Duration
		want      error
	}{
		{true, time.Hour, context.Canceled},
		{false, 200 * time.Millisecond, context.DeadlineExceeded},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			if tc.interrupt {
				interrupt()
			}
			<-r.Context().Done()
		}))
		changed := lastChanges(ctx, tc.timeout, metadata.NewForConfigOrDie(&rest.Config{Host: server.URL}))
		for range 3 {
			if _, err := changed(check.Object{Kind: kinds.Namespaces, Name: "a"}); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		}
		if n := requests.Load(); n > 1 {
			t.Errorf("%d requests", n)
		}
		interrupt()
		server.Close()
	}
}
