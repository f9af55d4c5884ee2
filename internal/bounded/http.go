package bounded

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// MaxError limits the bodies of errors, and objects in protobuf of an unknown kind: decoded, they are up to 50 times larger.
	MaxError = 64 << 10
	// maxErrorText limits the bodies of errors that are not objects, which become part of client-go's error.
	maxErrorText = 1 << 10
	// MaxEvent limits the memory of an event or of a single object.
	MaxEvent = 4 << 20
	// SizeOfMap is the memory of an object that is decoded as a map or as any struct of discovery.
	SizeOfMap = 512
	// sizeOfElement is the memory of an element or member that is decoded as any.
	sizeOfElement = 64
)

// Body returns the first n bytes of a body.
func Body(body io.ReadCloser, n int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, n), body}
}

// Objects returns an HTTP client that reads single objects completely, unless they take more than MaxEvent once decoded.
func Objects(client *http.Client) *http.Client {
	return Client(client, func(body io.ReadCloser, protobuf, _ bool) io.ReadCloser {
		if protobuf {
			return Body(body, MaxError)
		}
		return Counted(body, MaxEvent)
	})
}

// Client returns an HTTP client that limits the bodies of errors of an API server. content returns what is read of the body of
// another response in JSON or protobuf, of a request or of a watch. Nil leaves all other responses unchanged.
func Client(client *http.Client, content func(body io.ReadCloser, protobuf, watching bool) io.ReadCloser) *http.Client {
	copied := *client
	copied.Transport = transport{client.Transport, content}
	return &copied
}

type transport struct {
	http.RoundTripper
	content func(body io.ReadCloser, protobuf, watching bool) io.ReadCloser
}

var _ utilnet.RoundTripperWrapper = transport{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
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
		limit := int64(MaxError)
		if !known { // a decoder of YAML, for example, has other limits
			limit = maxErrorText
			response.Header.Set("Content-Type", "text/plain")
		}
		response.Body = Body(response.Body, limit)
	case t.content == nil:
	case !known:
		_ = response.Body.Close() // the error matters more
		return nil, fmt.Errorf("%w: content type %.100q", ErrInvalid, sent)
	default:
		watching := r.URL != nil && r.URL.Query().Get("watch") != ""
		response.Body = t.content(response.Body, media == runtime.ContentTypeProtobuf, watching)
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, nil
}

// Counted returns a body in JSON that is read completely. It is limited by the memory of the decoded values, as if texts had
// structure.
func Counted(body io.ReadCloser, memory int) io.ReadCloser {
	return &counted{ReadCloser: body, left: memory}
}

type counted struct {
	io.ReadCloser
	read, left int
}

// Read implements io.Reader.
func (c *counted) Read(to []byte) (int, error) {
	n, err := c.ReadCloser.Read(to)
	part := to[:n]
	c.read += n
	c.left -= n + SizeOfMap*bytes.Count(part, []byte{'{'}) + sizeOfElement*(bytes.Count(part, []byte{','})+bytes.Count(part, []byte{'['}))
	if c.left < 0 || c.read > MaxObject {
		return 0, ErrTooLarge
	}
	return n, err
}
