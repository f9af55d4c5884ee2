package client

import (
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strconv"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// refuseRedirects returns a redirect to the caller instead of following it. The API server never redirects lists and watches, and
// client-go would send the exporter's credentials to the new address.
func refuseRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// longestRetryAfter limits the values of Retry-After, in seconds.
const longestRetryAfter = 60

// limitRetryAfter wraps a transport so that a response cannot delay the next attempt by years: client-go obeys any Retry-After, and
// would not list the resource until then.
func limitRetryAfter(transport http.RoundTripper) http.RoundTripper { return impatient{transport} }

type impatient struct{ http.RoundTripper }

var _ utilnet.RoundTripperWrapper = impatient{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (i impatient) WrappedRoundTripper() http.RoundTripper { return i.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := i.RoundTripper.RoundTrip(r)
	if err != nil {
		return response, err
	}
	// client-go ignores values that are not numbers.
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > longestRetryAfter {
		response.Header.Set("Retry-After", strconv.Itoa(longestRetryAfter))
	}
	return response, nil
}

// limitPages wraps a transport so that no list of many pages exceeds the memory limit of the Go runtime. Without a memory limit,
// lists have any number of pages.
func limitPages(transport http.RoundTripper) http.RoundTripper { return limited{transport} }

type limited struct{ http.RoundTripper }

var _ utilnet.RoundTripperWrapper = limited{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (l limited) WrappedRoundTripper() http.RoundTripper { return l.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 || r.URL == nil || !r.URL.Query().Has("continue") {
		return l.RoundTripper.RoundTrip(r)
	}
	if heap := liveHeap(); heap > limit-limit/8 {
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper must
		}
		return nil, fmt.Errorf("list aborted: the heap has %d bytes, close to the memory limit of %d bytes; increase the limit", heap, limit)
	}
	return l.RoundTripper.RoundTrip(r)
}

// liveHeap returns the size of the objects that the last garbage collection kept.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
