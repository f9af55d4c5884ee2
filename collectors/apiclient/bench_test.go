package apiclient_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkRequest measures what the decorated transport adds to one that responds immediately. There is no budget: a real
// request takes a thousand times as long. TestTransportDoesNotAllocate checks the allocations.
func BenchmarkRequest(b *testing.B) {
	obs, _ := observertest.New(b)
	requests := []*http.Request{
		newRequest(b, http.MethodGet, "https://server/api/v1/namespaces/n/pods?allowWatchBookmarks=true&watch=true"),
		newRequest(b, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d/status"),
	}
	run := func(transport http.RoundTripper) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			begin := time.Now()
			for i := range n {
				if _, err := transport.RoundTrip(requests[i%len(requests)]); err != nil { //nolint:bodyclose // the response has none
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
	}
	plain := answering(http.StatusOK)
	budget.Ratio(b, 100_000, run(plain), run(apiclient.WrapTransport(obs, plain)))
}
