package client

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// receiveBuffer limits how much of a response the API server sends before the exporter reads it. With the default of 4 MiB, the
// initial lists of large resources would pile up in memory. At a round-trip time of 20 ms, a stream still reaches 25 MiB/s.
const receiveBuffer = 512 << 10

// limitBuffers sets the receive buffers of new HTTP/2 connections. Transports of other types are unchanged.
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
