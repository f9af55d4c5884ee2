package apiclient

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
)

// decompress returns a wrapper of the innermost transport that requests gzip and decompresses, as net/http does below all
// decorators, so that both sizes are known. Transports with DisableCompression, and transports of types other than
// *http.Transport, are returned unchanged.
func (r *registry) decompress(prefix string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		inner := next
		for {
			wrapper, ok := inner.(utilnet.RoundTripperWrapper)
			if !ok {
				break
			}
			inner = wrapper.WrappedRoundTripper()
		}
		if t, ok := inner.(*http.Transport); !ok || t.DisableCompression {
			return next
		}
		return &decompressing{registry: r, next: next, prefix: prefix}
	}
}

// decompressing decompresses the lists and watches of a client.
type decompressing struct {
	registry *registry
	next     http.RoundTripper
	// prefix precedes /api and /apis in the paths of the server.
	prefix string
}

var _ utilnet.RoundTripperWrapper = &decompressing{}

// RoundTrip implements http.RoundTripper. It changes only lists and watches for which net/http would request gzip.
func (d *decompressing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL == nil || r.Header == nil || r.Method == http.MethodHead || len(r.Header["Accept-Encoding"]) > 0 || len(r.Header["Range"]) > 0 ||
		!d.registry.Metrics.Counts(catalog.ClientCompressedBytes) {
		return d.next.RoundTrip(r)
	}
	request := apipath.Parse(r.Method, strings.TrimPrefix(r.URL.Path, d.prefix), r.URL.RawQuery)
	if !isRead(request) {
		return d.next.RoundTrip(r)
	}
	asking := r.WithContext(r.Context()) // a RoundTripper must not change the request
	asking.Header = r.Header.Clone()
	asking.Header.Set("Accept-Encoding", encodingGzip)
	response, err := d.next.RoundTrip(asking)
	if response == nil || err != nil {
		return response, err
	}
	response.Request = r
	if response.Body == nil || response.ContentLength == 0 || !strings.EqualFold(response.Header.Get("Content-Encoding"), encodingGzip) {
		return response, nil
	}
	response.Header.Del("Content-Encoding")
	response.Header.Del("Content-Length")
	response.ContentLength, response.Uncompressed = -1, true
	if response.StatusCode == http.StatusOK { // as in countRead
		response.Body = &countedBody{
			response.Body, d.registry.Metrics.Counter(catalog.ClientCompressedBytes, d.registry.label(request.Group, request.Resource)),
		}
	}
	response.Body = &gzipBody{compressed: response.Body}
	return response, nil
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (d *decompressing) WrappedRoundTripper() http.RoundTripper { return d.next }

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (d *decompressing) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(d.next) }

// gzipBody decompresses a body while the caller reads it, without buffering all of it. Read returns errors in the gzip header.
// As with a body of net/http, Close may be called during a Read, and a second Read at the same time fails.
type gzipBody struct {
	compressed io.ReadCloser
	reader     *gzip.Reader // nil before the first Read
	err        error        // an error in the gzip header
	closed     atomic.Bool
	reading    atomic.Bool
}

// Read implements io.Reader.
func (b *gzipBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, errClosedBody
	}
	if !b.reading.CompareAndSwap(false, true) {
		return 0, errConcurrentRead
	}
	defer b.reading.Store(false)
	if b.reader == nil && b.err == nil {
		b.reader, b.err = gzip.NewReader(b.compressed)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.reader.Read(p)
}

// Close implements io.Closer.
func (b *gzipBody) Close() error {
	b.closed.Store(true)
	return b.compressed.Close()
}

// errClosedBody matches both errors of net/http: it is fs.ErrClosed, as for HTTP/2, and has the text for HTTP/1.
var errClosedBody = fmt.Errorf("http: read on closed response body: %w", fs.ErrClosed)

// errConcurrentRead has the text of net/http.
var errConcurrentRead = errors.New("http: concurrent read on response body")
