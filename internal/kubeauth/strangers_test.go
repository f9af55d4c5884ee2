package kubeauth

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Somebody who invents tokens neither floods the API server nor locks out those who were let in.
func TestInventedTokens(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.token("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.asked.take()
	const burst = 10
	p.filter.strangers = rate.NewLimiter(rate.Every(24*time.Hour), burst) // so that the time that this takes does not matter
	for n := range 50 {
		want := http.StatusUnauthorized
		if n >= burst {
			want = http.StatusTooManyRequests
		}
		p.want("invented", "/metrics", fmt.Sprint("invented-", n), want)
	}
	if tokens, _ := p.asked.take(); tokens != burst {
		t.Errorf("%d TokenReviews, want %d", tokens, burst)
	}
	p.want("still authorized", "/metrics", scraper, http.StatusOK)
}

// What is sent for a WebSocket is no way around the limits, nor to be let in during an outage.
func TestWebSocketTokens(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.token("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "websocket")
	request.Header.Set("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io."+base64.RawURLEncoding.EncodeToString([]byte(scraper))+", x")
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if tokens, _ := p.asked.take(); response.Code != http.StatusUnauthorized || tokens != 0 {
		t.Errorf("status %d after %d TokenReviews, want 401 after none", response.Code, tokens)
	}
}

// While the API server hangs, strangers cannot take all the room: whoever was let in still is.
func TestStrangersWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	p := protect(t, &rest.Config{Host: server.URL}, short, short, short)
	statuses := make(chan int)
	const strangers = 50
	for n := range strangers {
		go func() { statuses <- p.get("/metrics", fmt.Sprint("invented-", n)).Code }()
	}
	refused := 0
	for range strangers {
		if <-statuses == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != strangers-maxStrangers {
		t.Errorf("%d of %d were refused, want all but %d", refused, strangers, maxStrangers)
	}
}

// An answer of no counts more than an earlier yes.
func TestRefusedIsNotTrusted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper", "/metrics")
	token := scraper.Config.BearerToken
	p := protect(t, c.reviewer(), short, short, short)
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+token)
	p.want("authorized", "/metrics", token, http.StatusOK)
	if !p.filter.isTrusted(newCredential(request)) {
		t.Error("not trusted although it was let in")
	}
	scraper.Delete(t)
	p.eventually("its account is gone", "/metrics", token, http.StatusUnauthorized)
	if p.filter.isTrusted(newCredential(request)) {
		t.Error("still trusted after it was refused")
	}
}
