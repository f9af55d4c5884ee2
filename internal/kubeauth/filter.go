// Package kubeauth lets the API server decide who may read what a program serves: a TokenReview tells who sends a request,
// a SubjectAccessReview whether its path is allowed to them. It is a package of its own so that only the program, and
// nobody who uses the library, builds k8s.io/apiserver.
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

// How long answers of the API server are believed. They are those of controller-runtime's metrics server.
const (
	tokenTTL   = time.Minute
	allowedTTL = 5 * time.Minute
	deniedTTL  = 30 * time.Second
)

// outage is for how long after its last success a request like it is let in while the API server cannot be asked. What is
// served is needed most when the API server is down.
const outage = time.Hour

const (
	// reviewTimeout is how long the API server may take. A scraper that waits 10 seconds should get an answer.
	reviewTimeout = 4 * time.Second
	// Requests per second from whom nobody has let in lately: whoever sends a new token each time must not be able to load
	// the API server.
	strangersPerSecond = 50
	strangersBurst     = 100
	// maxStrangers is how many of them wait for the API server at a time. One that hangs must not let them take the place of
	// those who are let in nevertheless.
	maxStrangers = 10
)

// maxTrusted bounds the requests that are let in during an outage.
const maxTrusted = 1000

// Filter admits requests with a bearer token that the API server knows, from users whom it allows the verb (get, for GET)
// on the path as a nonResourceURL, or on / for what is below /api. Others get 401 or 403, 503 if it cannot be asked, and
// 429 if they are too many. It is safe for concurrent use. A request costs no more than a few lookups while the answers to
// the last one like it are believed: a minute for the token, five minutes for the permission.
type Filter struct {
	log    *slog.Logger
	client *http.Client
	who    authenticator.Request
	may    authorizer.Authorizer

	// trusted are the requests, by token and path, that have been let in within the last hour.
	trusted *cache.LRUExpireCache
	// strangers limits all others, and asking has room for those who wait for an answer.
	strangers *rate.Limiter
	asking    chan struct{}
	// complain says no more often than once a minute that the API server cannot be asked. What k8s.io/apiserver logs of
	// each attempt comes besides.
	complain rate.Sometimes
}

// New returns a filter that asks the API server of config, which must allow it to create TokenReviews and
// SubjectAccessReviews: the ClusterRole system:auth-delegator does. It sends nothing before the first request.
func New(config *rest.Config, log *slog.Logger) (*Filter, error) {
	return newFilter(config, log, tokenTTL, allowedTTL, deniedTTL)
}

func newFilter(config *rest.Config, log *slog.Logger, token, allowed, denied time.Duration) (*Filter, error) {
	config = rest.CopyConfig(config)
	config.Timeout = reviewTimeout
	config.QPS, config.RateLimiter = -1, nil // a scraper would not wait; see strangers
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("the client for reviews: %w", err)
	}
	tokens, err := authenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("the client for TokenReviews: %w", err)
	}
	access, err := authorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("the client for SubjectAccessReviews: %w", err)
	}
	backoff := &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}
	who, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		CacheTTL:                 token,
		TokenAccessReviewClient:  tokens,
		TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff:      backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authentication by the API server: %w", err)
	}
	may, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: access,
		AllowCacheTTL:             allowed,
		DenyCacheTTL:              denied,
		WebhookRetryBackoff:       backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authorization by the API server: %w", err)
	}
	return &Filter{
		log: log, client: client, who: who, may: may,
		trusted:   cache.NewLRUExpireCache(maxTrusted),
		strangers: rate.NewLimiter(strangersPerSecond, strangersBurst),
		asking:    make(chan struct{}, maxStrangers),
		complain:  rate.Sometimes{Interval: time.Minute},
	}, nil
}

// Close closes the connections that reviews have left open. The filter must not be used any more.
func (f *Filter) Close() { utilnet.CloseIdleConnectionsFor(f.client.Transport) }

// Protect returns a handler that hands to next what the API server allows.
func (f *Filter) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The authenticator takes tokens from there too, and nothing here speaks WebSocket.
		r.Header.Del("Sec-WebSocket-Protocol")
		c := newCredential(r) // before the authenticator takes the token away
		trusted := f.isTrusted(c)
		answered, ok := f.admit(c.given && !trusted)
		if !ok {
			refuse(w, http.StatusTooManyRequests)
			return
		}
		status, err := f.decide(r)
		answered()
		if err != nil && r.Context().Err() == nil { // else it is the scraper that has gone
			f.complain.Do(func() {
				f.log.Warn("The API server cannot be asked who may read what; whoever was allowed to within an hour still is",
					"fix", "if it refuses, bind the ClusterRole system:auth-delegator to the exporter's service account", "err", err)
			})
		}
		switch {
		case status == http.StatusOK:
			f.trusted.Add(c.key, nil, outage)
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			f.trusted.Remove(c.key)
			refuse(w, status)
			return
		case status == http.StatusServiceUnavailable && trusted:
			r.Header.Del("Authorization") // as the authenticator does
		default:
			refuse(w, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit tells whether the API server may be asked about a request. The function is to be called when it has answered.
func (f *Filter) admit(stranger bool) (answered func(), ok bool) {
	if !stranger {
		return func() {}, true
	}
	if !f.strangers.Allow() {
		return nil, false
	}
	select {
	case f.asking <- struct{}{}:
		return func() { <-f.asking }, true
	default:
		return nil, false
	}
}

// refuse answers with a status and nothing that would tell who was meant.
func refuse(w http.ResponseWriter, status int) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, http.StatusText(status), status)
}

// decide returns 200, 401, 403, or 503 with the reason why the API server could not be asked.
func (f *Filter) decide(r *http.Request) (int, error) {
	response, known, err := f.who.AuthenticateRequest(r)
	switch {
	case err != nil && unanswered(err):
		return http.StatusServiceUnavailable, fmt.Errorf("TokenReview: %w", err)
	case err != nil || !known:
		f.log.Debug("A request is not authenticated", "path", r.URL.Path, "err", err)
		return http.StatusUnauthorized, nil
	}
	decision, reason, err := f.may.Authorize(r.Context(), authorizer.AttributesRecord{
		User: response.User,
		Verb: strings.ToLower(r.Method),
		Path: authorizedPath(r.URL.Path),
	})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, fmt.Errorf("SubjectAccessReview: %w", err)
	case decision != authorizer.DecisionAllow:
		f.log.Debug("A request is not authorized", "path", r.URL.Path, "user", response.User.GetName(), "reason", reason)
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// authorizedPath returns the path that a user must be allowed to get. Every user of a cluster may get what is below some of
// the API server's own paths, by the ClusterRole system:discovery: what the program serves there is not meant by that, and
// whoever may get its root may get it. Probes are meant, as they are of the API server's.
func authorizedPath(path string) string {
	for _, discovery := range []string{"/api", "/apis", "/openapi", "/version"} {
		if path == discovery || strings.HasPrefix(path, discovery+"/") {
			return "/"
		}
	}
	return path
}
