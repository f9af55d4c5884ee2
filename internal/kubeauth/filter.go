// Package kubeauth lets the API server authenticate and authorize requests to a program's web server, by TokenReview
// and SubjectAccessReview. It is a separate package so that users of the library do not compile k8s.io/apiserver.
package kubeauth

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// How long results of the API server are cached, as in controller-runtime's metrics server.
const (
	tokenTTL   = time.Minute
	allowedTTL = 5 * time.Minute
	deniedTTL  = 30 * time.Second
)

// outage is how long after its last success a request is still allowed while the API server is unavailable. Metrics are
// needed most when the API server is down.
const outage = time.Hour

const (
	// reviewTimeout limits a review, so that a scraper with a timeout of 10 seconds gets a response.
	reviewTimeout = 4 * time.Second
	// Reviews per second for requests that were not allowed recently: a client that sends a new token each time must
	// not be able to load the API server.
	unknownPerSecond = 50
	unknownBurst     = 100
	// maxUnknown limits the number of such requests that wait for the API server, so that they do not block requests that were
	// allowed recently if the API server hangs.
	maxUnknown = 10
)

// maxTrusted limits the requests that are remembered for an outage.
const maxTrusted = 1000

// Filter allows requests with a bearer token that the API server accepts, from users with permission for the verb (get, for
// GET) on the path as a nonResourceURL, or on / for paths below /api. Others get 401 or 403, 503 if the API server is
// unavailable, and 429 beyond the limits. It is safe for concurrent use. Tokens are cached for a minute and permissions for
// five; a request with cached results costs a few lookups.
type Filter struct {
	log    *slog.Logger
	client *http.Client
	authn  authenticator.Request
	authz  authorizer.Authorizer

	// trusted holds the requests, by token and path, that were allowed within the last hour.
	trusted *cache.LRUExpireCache
	// unknown limits the rate of all other requests, and waiting the number of those that wait for a result.
	unknown *rate.Limiter
	waiting chan struct{}
	// outageLog logs at most once a minute that the API server is unavailable, in addition to what k8s.io/apiserver
	// logs of each attempt.
	outageLog rate.Sometimes
}

// New returns a filter that sends reviews to the API server of config, which must be allowed to create TokenReviews and
// SubjectAccessReviews, as by the ClusterRole system:auth-delegator. It sends nothing before the first request.
func New(config *rest.Config, log *slog.Logger) (*Filter, error) {
	return newFilter(config, log, tokenTTL, allowedTTL, deniedTTL)
}

func newFilter(config *rest.Config, log *slog.Logger, token, allowed, denied time.Duration) (*Filter, error) {
	config = rest.CopyConfig(config)
	config.Timeout = reviewTimeout
	config.QPS, config.RateLimiter = -1, nil // a scraper would not wait; see unknown
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for reviews: %w", err)
	}
	tokens, err := authenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client for TokenReviews: %w", err)
	}
	access, err := authorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client for SubjectAccessReviews: %w", err)
	}
	backoff := &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}
	authn, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		CacheTTL:                 token,
		TokenAccessReviewClient:  tokens,
		TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff:      backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authentication by the API server: %w", err)
	}
	authz, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: access,
		AllowCacheTTL:             allowed,
		DenyCacheTTL:              denied,
		WebhookRetryBackoff:       backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authorization by the API server: %w", err)
	}
	return &Filter{
		log: log, client: client, authn: authn, authz: authz,
		trusted:   cache.NewLRUExpireCache(maxTrusted),
		unknown:   rate.NewLimiter(unknownPerSecond, unknownBurst),
		waiting:   make(chan struct{}, maxUnknown),
		outageLog: rate.Sometimes{Interval: time.Minute},
	}, nil
}

// Close closes the idle connections of reviews. The filter must not be used afterwards.
func (f *Filter) Close() { utilnet.CloseIdleConnectionsFor(f.client.Transport) }

// Protect returns a handler that passes allowed requests to next.
func (f *Filter) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The authenticator reads tokens from this header as well, and no handler here speaks WebSocket.
		r.Header.Del("Sec-WebSocket-Protocol")
		c := newCredential(r) // before the authenticator removes the token
		trusted := f.isTrusted(c)
		done, ok := f.admit(c.given && !trusted)
		if !ok {
			reject(w, http.StatusTooManyRequests)
			return
		}
		status, err := f.decide(r)
		done()
		if err != nil && r.Context().Err() == nil { // otherwise the scraper has disconnected
			f.outageLog.Do(func() {
				f.log.Warn("API server unavailable for authorization; requests allowed within the last hour are served",
					"fix", "if reviews are forbidden, bind the ClusterRole system:auth-delegator to the exporter's service account", "err", err)
			})
		}
		switch {
		case status == http.StatusOK:
			f.trusted.Add(c.key, nil, outage)
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			f.trusted.Remove(c.key)
			reject(w, status)
			return
		case status == http.StatusServiceUnavailable && trusted:
			r.Header.Del("Authorization") // as the authenticator does
		default:
			reject(w, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit reports whether a review may be sent for a request. The caller must call done when it has the result.
func (f *Filter) admit(unknown bool) (done func(), ok bool) {
	if !unknown {
		return func() {}, true
	}
	if !f.unknown.Allow() {
		return nil, false
	}
	select {
	case f.waiting <- struct{}{}:
		return func() { <-f.waiting }, true
	default:
		return nil, false
	}
}

// reject responds with a status and no details.
func reject(w http.ResponseWriter, status int) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, http.StatusText(status), status)
}

// decide returns 200, 401, 403, or 503 with the reason why the API server is unavailable.
func (f *Filter) decide(r *http.Request) (int, error) {
	response, known, err := f.authn.AuthenticateRequest(r)
	switch {
	case err != nil && unanswered(err):
		return http.StatusServiceUnavailable, fmt.Errorf("TokenReview: %w", err)
	case err != nil || !known:
		f.log.Debug("Request not authenticated", "path", r.URL.Path, "err", err)
		return http.StatusUnauthorized, nil
	}
	decision, reason, err := f.authz.Authorize(r.Context(), authorizer.AttributesRecord{
		User: response.User,
		Verb: strings.ToLower(r.Method),
		Path: authorizedPath(r.URL.Path),
	})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, fmt.Errorf("SubjectAccessReview: %w", err)
	case decision != authorizer.DecisionAllow:
		f.log.Debug("Request not authorized", "path", r.URL.Path, "user", response.User.GetName(), "reason", reason)
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// authorizedPath returns the path that a user must be allowed to get. The ClusterRole system:discovery lets every user get the
// API server's own paths below /api. The program's paths there are therefore authorized as /. Probes keep their path, as on
// the API server.
func authorizedPath(path string) string {
	for _, discovery := range []string{"/api", "/apis", "/openapi", "/version"} {
		if path == discovery || strings.HasPrefix(path, discovery+"/") {
			return "/"
		}
	}
	return path
}
