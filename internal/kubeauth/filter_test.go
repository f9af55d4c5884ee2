package kubeauth

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// reviews counts the requests to the API server.
type reviews struct {
	mu    sync.Mutex
	paths map[string]int
}

func (r *reviews) wrap(next http.RoundTripper) http.RoundTripper {
	return counting{next, r}
}

func (r *reviews) take() (tokens, access int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tokens, access = r.paths["/apis/authentication.k8s.io/v1/tokenreviews"], r.paths["/apis/authorization.k8s.io/v1/subjectaccessreviews"]
	clear(r.paths)
	return tokens, access
}

type counting struct {
	http.RoundTripper
	reviews *reviews
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.reviews.mu.Lock()
	c.reviews.paths[r.URL.Path]++
	c.reviews.mu.Unlock()
	return c.RoundTripper.RoundTrip(r)
}

// WrappedRoundTripper lets Filter.Close find the connections.
func (c counting) WrappedRoundTripper() http.RoundTripper { return c.RoundTripper }

// protected is a handler behind a filter, with the reviews and the log of the filter.
type protected struct {
	*testing.T
	handler http.Handler
	filter  *Filter
	asked   *reviews
	log     *strings.Builder
}

// Cache durations: one that has always expired, and one that never does within a test.
const (
	short = time.Nanosecond
	long  = time.Hour
)

func protect(t *testing.T, config *rest.Config, token, allowed, denied time.Duration, audiences ...string) protected {
	t.Helper()
	p := protected{T: t, asked: &reviews{paths: map[string]int{}}, log: &strings.Builder{}}
	config = rest.CopyConfig(config)
	config.Wrap(p.asked.wrap)
	f, err := New(config, Options{Audiences: audiences, Logger: slog.New(slog.NewTextHandler(p.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	f.users.ttl, f.rights.allowed, f.rights.denied = token, allowed, denied
	t.Cleanup(f.Close)
	p.filter = f
	p.handler = f.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token is passed on")
		}
		w.WriteHeader(http.StatusOK)
	}))
	return p
}

func (p protected) get(path, token string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	return response
}

func (p protected) want(what, path, token string, status int) {
	p.Helper()
	var got int
	await.True(p, what, func() bool { // a review that a busy API server did not answer in time is repeated
		got = p.get(path, token).Code
		return got != http.StatusServiceUnavailable || got == status
	}, p.log.String)
	if got != status {
		p.Errorf("%s: GET %s: %d, want %d\n%s", what, path, got, status, p.log)
	}
}

// eventually waits for a status: the API server caches its own decisions for a few seconds.
func (p protected) eventually(what, path, token string, status int) {
	p.Helper()
	await.True(p, what, func() bool { return p.get(path, token).Code == status }, p.log.String)
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	stranger, scraper := c.token("stranger"), c.token("scraper", "/metrics")
	p := protect(t, c.reviewer(), long, long, long)

	for _, token := range []string{"", "garbage", "a.b.c", scraper + "x"} {
		p.want("not authenticated", "/metrics", token, http.StatusUnauthorized)
	}
	if got := p.get("/metrics", "").Header().Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("WWW-Authenticate is %q", got)
	}
	p.want("not authorized", "/metrics", stranger, http.StatusForbidden)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.want("authorized for another path", "/", scraper, http.StatusForbidden)
	p.want("authorized for another path", "/metrics/", scraper, http.StatusForbidden)
	// Every user may get /api/* of the API server, which must not allow access to the exporter's own paths.
	for _, path := range []string{"/api/v1/informers", "/api", "/version", "/apis/x"} {
		p.want("allowed by system:discovery", path, stranger, http.StatusForbidden)
	}
	reader := c.token("reader", "/")
	p.want("allowed on the root", "/api/v1/informers", reader, http.StatusOK)
	p.want("allowed on the root", "/metrics", reader, http.StatusForbidden)
	p.want("the administrator", "/any", stacktest.Config(t).BearerToken, http.StatusOK)

	request := httptest.NewRequest(http.MethodPost, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+scraper)
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if response.Code != http.StatusForbidden {
		t.Errorf("POST by a user who may GET: %d, want 403", response.Code)
	}
	request = httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.SetBasicAuth("scraper", scraper)
	response = httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if response.Code != http.StatusUnauthorized {
		t.Errorf("the token as a password: %d, want 401", response.Code)
	}
	for _, token := range []string{stranger, scraper} {
		if strings.Contains(p.log.String(), token) {
			t.Error("a token is logged")
		}
	}
}

func TestAnswersAreCached(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper, stranger := c.token("scraper", "/metrics"), c.token("stranger")
	p := protect(t, c.reviewer(), long, long, long)
	for n := range 20 {
		p.want("authorized", "/metrics", scraper, http.StatusOK)
		p.want("not authorized", "/metrics", stranger, http.StatusForbidden)
		if tokens, access := p.asked.take(); n == 0 && (tokens < 2 || access < 2) || n > 0 && tokens+access > 0 {
			t.Errorf("round %d: %d TokenReviews and %d SubjectAccessReviews, want one of each for both tokens, and then none", n, tokens, access)
		}
	}
	p.want("another path", "/", scraper, http.StatusForbidden)
	if tokens, access := p.asked.take(); tokens > 0 || access < 1 {
		t.Errorf("another path: %d TokenReviews and %d SubjectAccessReviews, want 0 and 1", tokens, access)
	}
}

// The deletion of a service account takes effect once the cached results have expired.
func TestRevoked(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper", "/metrics")
	token := scraper.Config.BearerToken
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", token, http.StatusOK)
	scraper.Delete(t)
	p.eventually("its account is gone", "/metrics", token, http.StatusUnauthorized)
}

// A token that is valid except for its expiry is rejected.
func TestExpiredToken(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.token("scraper", "/metrics")
	p := protect(t, c.reviewer(), long, long, long)
	p.want("signed again", "/metrics", c.resign(scraper, time.Now().Add(time.Hour)), http.StatusOK)
	p.want("expired", "/metrics", c.resign(scraper, time.Now().Add(-time.Hour)), http.StatusUnauthorized)
}

// Without the API server, only requests that were allowed recently are allowed.
func TestOutage(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.Private(t, stack.Options{}))
	scraper, late := c.token("scraper", "/metrics"), c.token("late", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.want("not authorized", "/", scraper, http.StatusForbidden)

	if err := c.plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	p.asked.take()
	p.want("as before", "/metrics", scraper, http.StatusOK)
	if tokens, _ := p.asked.take(); tokens == 0 {
		t.Errorf("%d TokenReviews: no request to the API server", tokens)
	}
	p.want("never asked before", "/metrics", late, http.StatusServiceUnavailable)
	p.want("not allowed before", "/", scraper, http.StatusServiceUnavailable)
	p.want("no token", "/metrics", "", http.StatusUnauthorized)
	if n := strings.Count(p.log.String(), "API server unavailable"); n != 1 {
		t.Errorf("%d lines about the outage, want 1:\n%s", n, p.log)
	}

	if err := c.plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.eventually("after the outage", "/metrics", late, http.StatusOK)
}

// Without permission for reviews, all requests are rejected, and the log says what to grant.
func TestReviewsForbidden(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.token("scraper", "/metrics")
	p := protect(t, c.account("powerless").Config, long, long, long)
	p.want("reviews forbidden", "/metrics", scraper, http.StatusServiceUnavailable)
	for _, part := range []string{"system:auth-delegator", "tokenreviews.authentication.k8s.io is forbidden"} {
		if !strings.Contains(p.log.String(), part) {
			t.Errorf("the log does not have %q:\n%s", part, p.log)
		}
	}
}

// With audiences, tokens for the API server are rejected, so accepted tokens are useless elsewhere.
func TestAudiences(t *testing.T) {
	t.Parallel()
	c := newCluster(t, stacktest.ControlPlane(t))
	account := c.account("scraper", "/metrics")
	const audience = "https://informer-exporter.example.com"
	request, err := kubernetes.NewForConfigOrDie(c.plane.Config()).CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), "scraper",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reviewer := c.reviewer()
	meant := protect(t, reviewer, long, long, long, "another", audience)
	meant.want("for the audience", "/metrics", request.Status.Token, http.StatusOK)
	meant.want("for the API server", "/metrics", account.Config.BearerToken, http.StatusUnauthorized)
	other := protect(t, reviewer, long, long, long, "another")
	other.want("for another audience", "/metrics", request.Status.Token, http.StatusUnauthorized)
	usual := protect(t, reviewer, long, long, long)
	usual.want("for the audience, without audiences", "/metrics", request.Status.Token, http.StatusUnauthorized)
	usual.want("for the API server, without audiences", "/metrics", account.Config.BearerToken, http.StatusOK)

	// An API server without support for audiences ignores them.
	if (&users{audiences: []string{audience}}).isMeant(nil) {
		t.Error("a review without audiences is accepted")
	}
}
