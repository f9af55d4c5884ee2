package client

import (
	"io"
	"math"
	"net/http"
	"runtime/debug"

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

// unlimitedMemory replaces the memory limit of the Go runtime if there is none.
const unlimitedMemory = 4 << 30

// filtered returns an HTTP client that filters responses.
func filtered(client *http.Client, c *content) *http.Client {
	return bounded.Client(client, func(body io.ReadCloser, protobuf, watching bool) io.ReadCloser {
		return newFilteredBody(body, c, protobuf, watching)
	})
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
		return bounded.Counted(body, c.memory())
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
			p.left = bounded.MaxEvent
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
