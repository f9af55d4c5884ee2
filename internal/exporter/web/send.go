package web

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// Limits of responses that are being sent. A response beyond them disconnects the reader that has taken the longest, of the host
// with the most responses.
const (
	maxSending        = 40
	maxSendingPerHost = 10
	maxSendingBytes   = 32 << 20
	sendTimeout       = 30 * time.Second
)

// bodies are reused: a page of metrics may have megabytes.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// sender sends responses after their handlers have returned, so that slow readers cannot occupy the limits of requests.
type sender struct {
	timeout time.Duration

	mu      sync.Mutex
	sending []*sending // oldest first
	bytes   int
}

// sending is a response that is being sent.
type sending struct {
	host   string
	bytes  int
	cancel func()
}

// buffered passes requests to next, and sends each response when next has returned.
func (s *sender) buffered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodies.Get().(*bytes.Buffer)
		defer func() {
			body.Reset()
			bodies.Put(body)
		}()
		response := &bufferedResponse{ResponseWriter: w, body: body}
		next.ServeHTTP(response, r)
		s.send(response, untrusted.Host(r.RemoteAddr))
	})
}

func (s *sender) send(response *bufferedResponse, host string) {
	w, controller := response.ResponseWriter, http.NewResponseController(response.ResponseWriter)
	_ = controller.SetWriteDeadline(time.Now().Add(s.timeout)) // fails only in tests
	sent := &sending{host: host, bytes: response.body.Len(), cancel: func() { _ = controller.SetWriteDeadline(time.Unix(1, 0)) }}
	s.add(sent)
	defer s.remove(sent) // before w becomes invalid
	if sent.bytes > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(sent.bytes))
	}
	if response.status != 0 {
		w.WriteHeader(response.status)
	}
	if sent.bytes > 0 {
		_, _ = w.Write(response.body.Bytes()) // fails only if the client is gone or too slow
		_ = controller.Flush()                // otherwise the rest of the response would be sent after remove
	}
}

// add adds a response, and cancels others while there are too many.
func (s *sender) add(added *sending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slowest := s.excess(added); slowest != nil; slowest = s.excess(added) {
		slowest.cancel()
		s.drop(slowest)
	}
	s.sending = append(s.sending, added)
	s.bytes += added.bytes
}

// excess returns the response to cancel before another one is added, or nil.
func (s *sender) excess(added *sending) *sending {
	hosts := map[string]int{}
	for _, r := range s.sending {
		hosts[r.host]++
	}
	most := added.host
	if hosts[most] < maxSendingPerHost {
		if len(s.sending) < maxSending && s.bytes+added.bytes <= maxSendingBytes {
			return nil
		}
		for _, r := range s.sending {
			if hosts[r.host] > hosts[most] {
				most = r.host
			}
		}
	}
	if at := slices.IndexFunc(s.sending, func(r *sending) bool { return r.host == most }); at >= 0 {
		return s.sending[at]
	}
	return nil // a single response may have any size
}

func (s *sender) remove(sent *sending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(sent)
}

// drop removes a response, unless it has been canceled.
func (s *sender) drop(sent *sending) {
	if at := slices.Index(s.sending, sent); at >= 0 {
		s.sending = slices.Delete(s.sending, at, at+1)
		s.bytes -= sent.bytes
	}
}

// bufferedResponse keeps the status and the body of a response.
type bufferedResponse struct {
	http.ResponseWriter
	status int
	body   *bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (b *bufferedResponse) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

// Write implements http.ResponseWriter.
func (b *bufferedResponse) Write(data []byte) (int, error) { return b.body.Write(data) }
