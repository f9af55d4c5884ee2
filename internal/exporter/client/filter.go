package client

import (
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// client-go reads a response, or an event of a watch, into memory and decodes it. Without limits, a few kilobytes could become
// gigabytes: by compression, by many small values, or by contents that the exporter does not read. The responses are therefore
// filtered as a stream: only what the exporter reads is kept, and it is limited by the memory that it takes once it is decoded.

// ErrTooLarge means that a response or an event takes too much memory. A list with a smaller limit may succeed.
var ErrTooLarge = bounded.ErrTooLarge

// content describes what is kept of the objects in a response.
type content struct {
	json     *members // in JSON, nil for everything
	protobuf kinds    // in protobuf, by kind
	limit    int      // on the memory of a response, 0 for a share of the memory limit
}

const (
	// maxError limits the bodies of errors, and objects in protobuf of an unknown kind: decoded, they are up to 50 times larger.
	maxError = 64 << 10
	// maxErrorText limits the bodies of errors that are not objects, which become part of client-go's error.
	maxErrorText = 1 << 10
	// maxEvent limits the memory of an event.
	maxEvent = 4 << 20
	// unlimitedMemory replaces the memory limit of the Go runtime if there is none.
	unlimitedMemory = 4 << 30
)

// filtered returns an HTTP client that filters responses. With no content, it limits only errors.
func filtered(client *http.Client, c *content) *http.Client {
	copied := *client
	copied.Transport = filter{client.Transport, c}
	return &copied
}

// Bounded returns an HTTP client that reads single objects completely, unless they take more than 4 MiB once decoded.
func Bounded(client *http.Client) *http.Client { return filtered(client, objectContent) }

type filter struct {
	http.RoundTripper
	content *content
}

var _ utilnet.RoundTripperWrapper = filter{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (f filter) WrappedRoundTripper() http.RoundTripper { return f.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f filter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := f.RoundTripper.RoundTrip(r)
	if err != nil || response.Body == nil {
		return response, err
	}
	sent := response.Header.Get("Content-Type")
	media, _, parseErr := mime.ParseMediaType(sent)
	if sent == "" {
		media, parseErr = runtime.ContentTypeJSON, nil
		response.Header.Set("Content-Type", media)
	}
	known := parseErr == nil && (media == runtime.ContentTypeJSON || media == runtime.ContentTypeProtobuf)
	switch {
	case response.StatusCode < http.StatusOK || response.StatusCode > http.StatusPartialContent:
		limit := int64(maxError)
		if !known { // a decoder of YAML, for example, has other limits
			limit = maxErrorText
			response.Header.Set("Content-Type", "text/plain")
		}
		response.Body = limitedBody{io.LimitReader(response.Body, limit), response.Body}
	case f.content == nil:
	case !known:
		_ = response.Body.Close() // the error matters more
		return nil, fmt.Errorf("%w: content type %.100q", bounded.ErrInvalid, sent)
	default:
		watching := r.URL != nil && r.URL.Query().Get("watch") != ""
		response.Body = newFilteredBody(response.Body, f.content, media == runtime.ContentTypeProtobuf, watching)
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, nil
}

// limitedBody is the beginning of a body.
type limitedBody struct {
	io.Reader
	io.Closer
}

// filteredBody has the kept part of a body: of a response as a whole, or of one event of a watch at a time.
type filteredBody struct {
	io.Closer
	*pruner
	next  func() error // appends the next object to pruner.out, and returns io.EOF at the end
	taken int          // of pruner.out
	err   error
}

func newFilteredBody(body io.ReadCloser, c *content, protobuf, watching bool) io.ReadCloser {
	if c.json == nil && !protobuf {
		return &countedBody{ReadCloser: body, left: c.memory()}
	}
	p := &pruner{Scanner: bounded.NewScanner(body), content: c}
	b := &filteredBody{Closer: body, pruner: p}
	switch {
	case protobuf && watching:
		b.next = p.protobufEvent
	case protobuf:
		b.next = p.protobufResponse
	case watching:
		b.next = func() error {
			return p.jsonObject(&members{named: map[string]member{"type": {}, "object": {within: c.json}}})
		}
	default:
		b.next = func() error { return p.jsonObject(c.json) }
	}
	object := b.next
	b.next = func() error {
		p.Mark()
		if watching {
			p.left = maxEvent
			return object()
		}
		b.next = p.end // a response has only one
		p.left = c.memory()
		return object()
	}
	return b
}

// memory returns the memory that a response may take once it is decoded.
func (c *content) memory() int {
	if c.limit > 0 {
		return c.limit
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = unlimitedMemory
	}
	return int(limit / 4)
}

// Read implements io.Reader.
func (b *filteredBody) Read(to []byte) (int, error) {
	if b.taken == len(b.out) && b.err == nil {
		if b.taken, b.out = 0, b.out[:0]; cap(b.out) > maxKeptBuffer {
			b.out = nil
		}
		if b.err = b.next(); b.err != nil {
			b.out = nil
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	n := copy(to, b.out[b.taken:])
	b.taken += n
	return n, nil
}

// maxKeptBuffer is the size of a buffer that a watch keeps.
const maxKeptBuffer = 64 << 10

// pruner appends what is kept of an object to out.
type pruner struct {
	*bounded.Scanner
	content *content
	out     []byte
	cut     bounded.Cut
	left    int // memory that more values may take
}

// end returns io.EOF if there is only white space left.
func (p *pruner) end() error {
	if p.Next() != 0 {
		return bounded.ErrInvalid
	}
	return p.Err()
}

// charge counts memory that a value takes once it is decoded.
func (p *pruner) charge(n int) error {
	if p.left -= n; p.left < 0 {
		return bounded.ErrTooLarge
	}
	return nil
}

// keep appends bytes.
func (p *pruner) keep(part []byte) error {
	p.out = append(p.out, part...)
	return p.charge(len(part))
}
