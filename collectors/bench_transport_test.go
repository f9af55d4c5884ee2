package collectors

import (
	"net/http"
	"testing"
	"time"
)

// BenchmarkRequest shows what the decorated transport adds to a request, beside one that answers at once. There is no
// budget: a real request takes a thousand times as long. No allocation may be added.
func BenchmarkRequest(b *testing.B) {
	obs, _ := newObserver(b)
	requests := []*http.Request{
		newRequest(b, http.MethodGet, "https://server/api/v1/namespaces/n/pods?allowWatchBookmarks=true&watch=true"),
		newRequest(b, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d/status"),
	}
	run := func(transport http.RoundTripper) workload {
		return func(b *testing.B, n int) time.Duration {
			begin := time.Now()
			for i := range n {
				if _, err := transport.RoundTrip(requests[i%len(requests)]); err != nil { //nolint:bodyclose // there is none
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
	}
	plain := answering(http.StatusOK)
	ratio(b, 300_000, run(plain), run(obs.WrapTransport(plain)))
}
