package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// Every command that connects to an API server stops reading a response without end.
func TestEveryCommandIsBounded(t *testing.T) {
	const size, most = 256 << 20, 64 << 20 // the limit, and what the system buffers
	for name, args := range map[string][]string{
		"serve": {"serve", "--web.listen-address=127.0.0.1:0"},
		"check": {"check"},
		"cost":  {"cost"},
		"push":  {"push", "--pushgateway.url=http://127.0.0.1:1", "--push.timeout=1m"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var largest atomic.Int64
			chunk := bytes.Repeat([]byte(",{}"), 32<<10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				sent, err := w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[{}`))
				for err == nil && sent < size {
					var n int
					n, err = w.Write(chunk)
					sent += n
				}
				largest.Store(max(largest.Load(), int64(sent)))
				cancel()
			}))
			defer server.Close()
			var out, log output
			_ = run(ctx, append(args, kubeconfigOf(t, &rest.Config{Host: server.URL})), &out, &log) // any error
			server.CloseClientConnections()
			server.Close() // waits for the handlers
			if sent := largest.Load(); sent < 1<<20 || sent > most {
				t.Errorf("read %d bytes of a response:\n%s", sent, &log)
			}
		})
	}
}
