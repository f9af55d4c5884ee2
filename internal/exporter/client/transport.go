package client

import (
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// refuseRedirects returns a redirect to the caller instead of following it. The API server never redirects lists and watches, and
// client-go would send the exporter's credentials to the new address.
func refuseRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// wrapper is a transport with another RoundTrip.
type wrapper struct {
	http.RoundTripper
	roundTrip func(*http.Request) (*http.Response, error)
}

var _ utilnet.RoundTripperWrapper = wrapper{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (w wrapper) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w wrapper) RoundTrip(r *http.Request) (*http.Response, error) { return w.roundTrip(r) }

// withoutManagedFields asks for lists of metadata without managedFields, which are most of their bytes and which nothing reads (KEP-5958).
// API servers that do not know the parameter ignore it. Watches and single objects keep them: propagation and the age of a change are read
// from the times in managedFields.
func withoutManagedFields(transport http.RoundTripper) http.RoundTripper {
	return wrapper{transport, func(r *http.Request) (*http.Response, error) {
		const list = ";as=PartialObjectMetadataList"
		if accept := r.Header.Get("Accept"); strings.Contains(accept, list) {
			r = r.Clone(r.Context()) // as a RoundTripper must
			r.Header.Set("Accept", strings.ReplaceAll(accept, list, ";drop=metadata.managedFields"+list))
		}
		return transport.RoundTrip(r)
	}}
}

// longestRetryAfter limits the values of Retry-After, in seconds.
const longestRetryAfter = 60

// limitRetryAfter wraps a transport so that a response cannot delay the next attempt by years: client-go obeys any Retry-After, and
// would not list the resource until then.
func limitRetryAfter(transport http.RoundTripper) http.RoundTripper {
	return wrapper{transport, func(r *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(r)
		if err != nil {
			return response, err
		}
		// client-go ignores values that are not numbers.
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > longestRetryAfter {
			response.Header.Set("Retry-After", strconv.Itoa(longestRetryAfter))
		}
		return response, nil
	}}
}

// limitPages wraps a transport so that no list of many pages exceeds the memory limit of the Go runtime. Without a memory limit,
// lists have any number of pages.
func limitPages(transport http.RoundTripper) http.RoundTripper {
	return wrapper{transport, func(r *http.Request) (*http.Response, error) {
		limit := debug.SetMemoryLimit(-1)
		if limit == math.MaxInt64 || r.URL == nil || !r.URL.Query().Has("continue") {
			return transport.RoundTrip(r)
		}
		if heap := liveHeap(); heap > limit-limit/8 {
			if r.Body != nil {
				_ = r.Body.Close() // as a RoundTripper must
			}
			return nil, fmt.Errorf("list aborted: the heap has %d bytes, close to the memory limit of %d bytes; increase the limit", heap, limit)
		}
		return transport.RoundTrip(r)
	}}
}

// liveHeap returns the size of the objects that the last garbage collection kept.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// receiveBuffer limits how much of a response the API server sends before the exporter reads it. With the default of 4 MiB, the
// initial lists of large resources would pile up in memory. At a round-trip time of 20 ms, a stream still reaches 25 MiB/s.
const receiveBuffer = 512 << 10

// limitBuffers sets the receive buffers of new HTTP/2 connections. Transports of other types are unchanged.
func limitBuffers(transport http.RoundTripper) http.RoundTripper {
	inner := transport
	for outer, ok := inner.(utilnet.RoundTripperWrapper); ok; outer, ok = inner.(utilnet.RoundTripperWrapper) {
		inner = outer.WrappedRoundTripper()
	}
	if t, ok := inner.(*http.Transport); ok {
		t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: receiveBuffer}
	}
	return transport
}
