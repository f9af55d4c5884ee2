package client

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// receiveBuffer is the most that the API server sends of one response before the exporter has read it. With the default of 4 MiB,
// the first lists of large resources would wait in memory to be decoded. At a round trip of 20 ms, a stream still has 25 MiB/s.
const receiveBuffer = 512 << 10

// limitBuffers sets the receive buffers of new HTTP/2 connections. A transport of another type is left alone.
func limitBuffers(transport http.RoundTripper) http.RoundTripper {
	inner := transport
	for {
		wrapper, ok := inner.(utilnet.RoundTripperWrapper)
		if !ok {
			break
		}
		inner = wrapper.WrappedRoundTripper()
	}
	if t, ok := inner.(*http.Transport); ok {
		t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: receiveBuffer}
	}
	return transport
}
