package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

const eventText = `{"kind":"Event","auditID":"%s","stage":"ResponseComplete","verb":"get","requestURI":"/api/v1/pods","user":{"username":"u"},"requestReceivedTimestamp":"2026-01-02T03:04:05.000001Z","stageTimestamp":"2026-01-02T03:04:05.000002Z"}`

// list returns a batch with items and one event for each ID.
func list(items string, ids ...string) string {
	for _, id := range ids {
		items += "," + fmt.Sprintf(eventText, id)
	}
	return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + strings.TrimPrefix(items, ",") + `]}`
}

// receiver is a webhook with what it received.
type receiver struct {
	*httptest.Server
	handler   *Handler
	mu        sync.Mutex
	ids       []string
	malformed int
	outcomes  map[string]int
}

func newReceiver(t *testing.T, tokenFile string) *receiver {
	r := &receiver{outcomes: map[string]int{}}
	h, err := New(Options{
		TokenFile: tokenFile,
		Observe:   func(e *event.Event) { r.mu.Lock(); defer r.mu.Unlock(); r.ids = append(r.ids, e.AuditID) },
		Malformed: func(n int) { r.mu.Lock(); defer r.mu.Unlock(); r.malformed += n },
		Outcome:   func(o string) { r.mu.Lock(); defer r.mu.Unlock(); r.outcomes[o]++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.handler = h
	r.Server = httptest.NewServer(h)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) post(t *testing.T, authorization string, body io.Reader) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization)
	response, err := r.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func token(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Batches are answered by what is in them, and what is broken in one costs no event of it or of others.
func TestBatches(t *testing.T) {
	r := newReceiver(t, token(t))
	for _, c := range []struct {
		body string
		want int
	}{
		{list("", "a", "b"), http.StatusOK},
		{list(`{},null,7,{"auditID":3}`, "c"), http.StatusOK},
		{list(""), http.StatusOK},
		{"{", http.StatusBadRequest},
		{`{"kind":"PodList","items":[]}`, http.StatusBadRequest},
		{list("", "cut")[:300], http.StatusBadRequest},
		{strings.Repeat(" ", MaxBody) + list("", "large"), http.StatusRequestEntityTooLarge},
		{list("", "d"), http.StatusOK},
	} {
		if got := r.post(t, "Bearer secret", strings.NewReader(c.body)); got != c.want {
			t.Errorf("%.60q: status %d, want %d", c.body, got, c.want)
		}
		// Without a length.
		if got := r.post(t, "Bearer secret", struct{ io.Reader }{strings.NewReader(c.body)}); got != c.want {
			t.Errorf("%.60q in chunks: status %d, want %d", c.body, got, c.want)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if got, want := strings.Join(r.ids, ""), "ababccdd"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if want := 2*4 + 2*3; r.malformed != want {
		t.Errorf("%d malformed, want %d", r.malformed, want)
	}
	if r.outcomes[Accepted] != 8 || r.outcomes[Invalid] != 8 {
		t.Errorf("outcomes %v", r.outcomes)
	}
}

// Nothing without the token, which may change while the receiver runs; a receiver without a token in its file does not start.
func TestToken(t *testing.T) {
	path := token(t)
	r := newReceiver(t, path)
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic secret", "secret"} {
		if got := r.post(t, authorization, strings.NewReader(list("", "x"))); got != http.StatusUnauthorized {
			t.Errorf("%q: status %d", authorization, got)
		}
	}
	if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.post(t, "bearer new", strings.NewReader(list("", "x"))); got != http.StatusOK {
		t.Errorf("status %d after the token changed", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := r.post(t, "Bearer ", strings.NewReader(list("", "x"))); got != http.StatusUnauthorized {
		t.Errorf("status %d without the file", got)
	}
	if len(r.ids) != 1 || r.outcomes[Unauthorized] != 8 {
		t.Errorf("events %v, outcomes %v", r.ids, r.outcomes)
	}
	if err := os.WriteFile(path, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-missing"} {
		if _, err := New(Options{TokenFile: file}); err == nil {
			t.Errorf("no error for %s", file)
		}
	}
	if got := httptest.NewRecorder(); true {
		r.handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if got.Code != http.StatusUnauthorized {
			t.Errorf("GET: status %d", got.Code)
		}
	}
}

// Without a token, only a client certificate that the server verified is accepted, and only POST.
func TestCertificate(t *testing.T) {
	r := newReceiver(t, "")
	for name, c := range map[string]struct {
		tls    *tls.ConnectionState
		method string
		want   int
	}{
		"plain":        {nil, http.MethodPost, http.StatusUnauthorized},
		"none":         {&tls.ConnectionState{}, http.MethodPost, http.StatusUnauthorized},
		"not verified": {&tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}, http.MethodPost, http.StatusUnauthorized},
		"verified":     {&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}, http.MethodPost, http.StatusOK},
		"GET":          {&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}, http.MethodGet, http.StatusMethodNotAllowed},
	} {
		request := httptest.NewRequest(c.method, "/", strings.NewReader(list("", "a")))
		request.TLS = c.tls
		response := httptest.NewRecorder()
		r.handler.ServeHTTP(response, request)
		if response.Code != c.want {
			t.Errorf("%s: status %d, want %d", name, response.Code, c.want)
		}
	}
}

// Senders that stall are refused with 429, after which an API server sends its batch again, and leave room for others.
func TestStalledSender(t *testing.T) {
	r := newReceiver(t, token(t))
	var stalled []*io.PipeWriter
	var busy atomic.Int32
	for range 3 * maxOfHost {
		reader, writer := io.Pipe()
		stalled = append(stalled, writer)
		go func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL, reader)
			if err != nil {
				return
			}
			request.Header.Set("Authorization", "Bearer secret")
			response, err := r.Client().Do(request) // fails for those that are stalled
			if err != nil {
				return
			}
			defer response.Body.Close() // not read
			if response.StatusCode == http.StatusTooManyRequests {
				busy.Add(1)
			}
		}()
	}
	await.True(t, "all but those of the limit are refused", func() bool { return busy.Load() == 2*maxOfHost })
	if got := r.post(t, "Bearer secret", strings.NewReader(list("", "same host"))); got != http.StatusTooManyRequests {
		t.Errorf("same address: status %d", got)
	}
	send := func(host string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(list("", host)))
		request.Header.Set("Authorization", "Bearer secret")
		request.RemoteAddr = host
		response := httptest.NewRecorder()
		r.handler.ServeHTTP(response, request)
		return response
	}
	if got := send("192.0.2.7:1"); got.Code != http.StatusOK {
		t.Errorf("another address: status %d", got.Code)
	}
	for _, writer := range stalled {
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
	}
	await.True(t, "the address is admitted again", func() bool {
		return r.post(t, "Bearer secret", strings.NewReader(list("", "later"))) == http.StatusOK
	})

	// All addresses together.
	for i := range maxRequests {
		await.True(t, "earlier requests have ended", func() bool {
			_, ok := r.handler.enter(fmt.Sprintf("192.0.2.%d", i))
			return ok
		})
	}
	if got := send("192.0.2.77:1"); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
		t.Errorf("above the limit: status %d, %v", got.Code, got.Header())
	}
}
