// Package webhook receives events from the audit webhooks of API servers. Senders are authenticated, and still not trusted: none can make
// the receiver lose events of others.
package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

const (
	// MaxBody is the largest body. A batch of an API server has at most 400 events, of about 1 KiB each at level Metadata.
	MaxBody = 8 << 20
	// maxRequests is the number of requests that are read at the same time, maxOfHost that of one address. They limit memory: the
	// largest event takes up to 8 MiB to decode.
	maxRequests, maxOfHost = 8, 4
	// readTimeout limits how long a sender occupies one of them.
	readTimeout = 10 * time.Second
	maxToken    = 16 << 10
)

// Outcomes of requests.
const (
	Accepted     = "accepted"
	Unauthorized = "unauthorized"
	Invalid      = "invalid"
	Busy         = "busy"
)

// Outcomes returns the outcomes of requests, in the order in which they are documented.
func Outcomes() []string { return []string{Accepted, Unauthorized, Invalid, Busy} }

// Options configure a Handler.
type Options struct {
	// TokenFile has the bearer token that senders have. It is read at each request. Without it, senders need a client certificate that the
	// server verified.
	TokenFile string
	// Observe is called for each event, by several goroutines. The event is valid during the call.
	Observe func(*event.Event)
	// Malformed is called with the number of items of a batch that are no events.
	Malformed func(int)
	// Outcome is called once for each request.
	Outcome func(string)
}

// Handler is an audit webhook. It is safe for concurrent use.
type Handler struct {
	options Options
	slots   chan struct{}
	mu      sync.Mutex
	hosts   map[string]int
}

// New returns a Handler. It returns an error if the token cannot be read.
func New(o Options) (*Handler, error) {
	h := &Handler{options: o, slots: make(chan struct{}, maxRequests), hosts: map[string]int{}}
	if o.TokenFile != "" {
		if _, err := h.token(); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// ServeHTTP implements http.Handler. The API server sends a batch again after 429, and drops it after other errors of the client.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	outcome, status, text := h.receive(w, r)
	h.options.Outcome(outcome)
	if status == http.StatusOK {
		return
	}
	w.Header().Set("Connection", "close") // else the server waits for the rest of the body
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, text, status)
}

func (h *Handler) receive(w http.ResponseWriter, r *http.Request) (outcome string, status int, text string) {
	if !h.trusts(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return Unauthorized, http.StatusUnauthorized, "a bearer token or client certificate is required"
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return Invalid, http.StatusMethodNotAllowed, "only POST is allowed"
	}
	if r.ContentLength > MaxBody {
		return Invalid, http.StatusRequestEntityTooLarge, "the body is too large"
	}
	leave, ok := h.enter(untrusted.Host(r.RemoteAddr))
	if !ok {
		return Busy, http.StatusTooManyRequests, "too many requests"
	}
	defer leave()
	// A server without deadlines, as in a test, has ErrNotSupported.
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return Invalid, http.StatusInternalServerError, "cannot set a deadline"
	}
	malformed, err := event.DecodeList(r.Body, MaxBody, h.options.Observe)
	if malformed > 0 {
		h.options.Malformed(malformed)
	}
	switch {
	case errors.Is(err, event.ErrTooLarge):
		return Invalid, http.StatusRequestEntityTooLarge, "the body is too large"
	case err != nil:
		h.options.Malformed(1)
		return Invalid, http.StatusBadRequest, "the body is not an audit EventList"
	}
	return Accepted, http.StatusOK, ""
}

// trusts authenticates a sender.
func (h *Handler) trusts(r *http.Request) bool {
	if h.options.TokenFile == "" {
		return r.TLS != nil && len(r.TLS.VerifiedChains) > 0
	}
	want, err := h.token()
	if err != nil {
		return false
	}
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, expected := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], expected[:]) == 1
}

func (h *Handler) token() (string, error) {
	file, err := os.Open(h.options.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token of the webhook: %w", err)
	}
	defer file.Close() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return "", fmt.Errorf("read the token of the webhook: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("the token of the webhook in %s is empty", h.options.TokenFile)
	}
	return token, nil
}

// enter admits a request unless there are too many, in all or from its address.
func (h *Handler) enter(host string) (leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hosts[host] >= maxOfHost {
		return nil, false
	}
	select {
	case h.slots <- struct{}{}:
	default:
		return nil, false
	}
	h.hosts[host]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		<-h.slots
		if h.hosts[host]--; h.hosts[host] == 0 {
			delete(h.hosts, host)
		}
	}, true
}
