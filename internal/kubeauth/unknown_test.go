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

// A client that invents tokens neither floods the API server nor blocks requests that were allowed.
func TestInventedTokens(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.token("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.asked.take()
	p.filter.hosts.Remove("192.0.2.1") // the invented tokens come from another host
	const burst = 10
	p.filter.unknown = rate.NewLimiter(rate.Every(24*time.Hour), burst) // so that elapsed time does not matter
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

// A token in the WebSocket header bypasses neither the limits nor the authorization during an outage.
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

// While the API server hangs, only a limited number of requests with unknown tokens wait for it. Others are rejected.
func TestUnknownTokensWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	p := protect(t, &rest.Config{Host: server.URL}, short, short, short)
	statuses := make(chan int)
	const requests = 50
	for n := range requests {
		go func() { statuses <- p.get("/metrics", fmt.Sprint("invented-", n)).Code }()
	}
	rejected := 0
	for range requests {
		if <-statuses == http.StatusTooManyRequests {
			rejected++
		}
	}
	if rejected != requests-maxUnknown {
		t.Errorf("%d of %d were rejected, want all but %d", rejected, requests, maxUnknown)
	}
}

// A rejection takes precedence over an earlier success.
func TestRejectedIsNotTrusted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper", "/metrics")
	token := scraper.Config.BearerToken
	p := protect(t, c.reviewer(), short, short, short)
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+token)
	p.want("authorized", "/metrics", token, http.StatusOK)
	if !p.filter.isTrusted(newCredential(request)) {
		t.Error("not trusted although it was allowed")
	}
	scraper.Delete(t)
	p.eventually("its account is gone", "/metrics", token, http.StatusUnauthorized)
	if p.filter.isTrusted(newCredential(request)) {
		t.Error("still trusted after it was rejected")
	}
}

// Invented tokens of others do not keep out a scraper with a rotated token: its host is known.
func TestRotatedTokenBesideInventedOnes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	account := c.account("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", account.Config.BearerToken, http.StatusOK)
	p.filter.unknown = rate.NewLimiter(0, 0) // as if other hosts had used it up
	rotated, err := c.plane.ServiceAccountConfig(t.Context(), c.namespace, "scraper")
	if err != nil {
		t.Fatal(err)
	}
	if rotated.BearerToken == account.Config.BearerToken {
		t.Fatal("the token is the same")
	}
	p.want("rotated", "/metrics", rotated.BearerToken, http.StatusOK)
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.RemoteAddr = "198.51.100.7:1234"
	request.Header.Set("Authorization", "Bearer invented")
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if response.Code != http.StatusTooManyRequests {
		t.Errorf("an invented token of another host: %d, want 429", response.Code)
	}
	for n := range knownBurst {
		p.get("/metrics", fmt.Sprint("invented-", n))
	}
	p.filter.hosts.Add("192.0.2.1", rate.NewLimiter(0, 0), time.Hour)
	p.want("too many of a known host", "/metrics", "invented", http.StatusTooManyRequests)
}

// Probes, which every user may get, are not remembered for an outage: new tokens would displace those of scrapers.
func TestProbesAreNotRemembered(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	p := protect(t, c.reviewer(), short, short, short)
	stranger := c.token("stranger")
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		p.want("a probe", path, stranger, http.StatusOK)
	}
	if n := len(p.filter.trusted.Keys()) + len(p.filter.hosts.Keys()); n != 0 {
		t.Errorf("%d requests and hosts are remembered", n)
	}
	p.want("a verbose probe", "/readyz?verbose", stranger, http.StatusForbidden)
}
