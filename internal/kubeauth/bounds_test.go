package kubeauth

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
)

// endless is a body without end that counts what is read, up to a gigabyte.
type endless struct {
	io.Reader
	read *atomic.Int64
}

func (e endless) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF && e.read.Load() < 1<<30 {
		n, err = copy(p, bytes.Repeat([]byte(" {},"), 1<<10)), nil
	}
	e.read.Add(int64(n))
	return n, err
}

func (e endless) Close() error { return nil }

// A review of any size is read up to a limit.
func TestReviewsAreBounded(t *testing.T) {
	for _, status := range []int{http.StatusCreated, http.StatusInternalServerError} {
		read := new(atomic.Int64)
		s := &apiServer{fault: func(r *http.Request) (*http.Response, error) {
			body := endless{bytes.NewReader([]byte(`{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"user":{"groups":[{}`)), read}
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}, nil
		}}
		p := protect(t, s.config(), short, short, short)
		p.want("unavailable", "/metrics", "prometheus-1", http.StatusServiceUnavailable)
		if n := read.Load(); n == 0 || n > 128<<20 { // a few attempts
			t.Errorf("status %d: %d bytes were read", status, n)
		}
	}
}
