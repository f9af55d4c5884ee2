// Package kubeauth lets the API server authenticate and authorize requests to a program's web server, by TokenReview
// and SubjectAccessReview, with the semantics of k8s.io/apiserver's delegated authentication. It does not import that module,
// which would link CEL into the program and add 8 MB.
package kubeauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// How long results of the API server are cached, as in controller-runtime's metrics server.
const (
	tokenTTL   = time.Minute
	allowedTTL = 5 * time.Minute
	deniedTTL  = 30 * time.Second
)

// outage is how long after its last success a request is still allowed while the API server is unavailable. Metrics are
// most useful when the API server is down.
const outage = time.Hour

const (
	// reviewTimeout limits a review, so that a scraper with a timeout of 10 seconds gets a response.
	reviewTimeout = 4 * time.Second
	// Reviews per second for requests that were not allowed recently: a client that sends a new token each time must not
	// overload the API server.
	unknownPerSecond = 50
	unknownBurst     = 100
	// maxUnknown limits the number of such requests that wait for the API server, so that they do not block requests that were
	// allowed recently if the API server hangs.
	maxUnknown = 10
	// Additional reviews per second for each of the last maxHosts hosts with a request that was allowed within the last hour: other
	// clients must not lock out a scraper after its token is rotated.
	knownPerSecond = 5
	knownBurst     = 20
	maxHosts       = 100
)

const (
	// maxTrusted limits the requests that are remembered for an outage.
	maxTrusted = 1000
	// Limit of newly remembered requests per user: a user that may scrape and sends a new token each time must not displace others.
	trustedPerUser = 20
	trustedRefill  = time.Minute
)

// Filter allows requests with a bearer token that the API server accepts, from users with permission for the verb (get, for
// GET) on the path as a nonResourceURL, or on / for paths below /api. Others get 401 or 403, 503 if the API server is
// unavailable, and 429 beyond the limits. It is safe for concurrent use. Tokens are cached for a minute and permissions for
// five; a request with cached results costs a few lookups.
type Filter struct {
	log    *slog.Logger
	client *http.Client
	users  users
	rights permissions

	// trusted holds the requests, by token and path, that were allowed within the last hour.
	trusted *cache.LRUExpireCache
	// trusting has a limiter of new entries in trusted for each user.
	trusting *cache.LRUExpireCache // of *rate.Limiter
	// unknown limits the rate of all other requests, and waiting the number of those that wait for a result.
	unknown *rate.Limiter
	waiting chan struct{}
	// hosts has a separate limiter for each host with a request that was allowed within the last hour.
	hosts       *cache.LRUExpireCache // of *rate.Limiter
	waitingHost chan struct{}
	// outageLog logs at most once a minute that the API server is unavailable.
	outageLog rate.Sometimes
}

// Options configures a Filter. Logger is required.
type Options struct {
	// Audiences are the audiences of accepted tokens, any of which suffices. Defaults to those of the API server.
	Audiences []string
	// Logger receives messages about the API server.
	Logger *slog.Logger
}

// New returns a filter that sends reviews to the API server of config, which must be allowed to create TokenReviews and
// SubjectAccessReviews, as by the ClusterRole system:auth-delegator. It sends nothing before the first request.
func New(config *rest.Config, options Options) (*Filter, error) {
	config = rest.CopyConfig(config)
	config.Timeout = reviewTimeout
	config.QPS, config.RateLimiter = -1, nil // a scraper would not wait; see unknown
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for reviews: %w", err)
	}
	// A review contains the token of a scraper, and following a redirect would send it to another address.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client = bounded.Objects(client)
	tokens, err := authenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client for TokenReviews: %w", err)
	}
	access, err := authorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client for SubjectAccessReviews: %w", err)
	}
	return &Filter{
		log: options.Logger, client: client,
		users: users{client: tokens.TokenReviews(), audiences: options.Audiences, ttl: tokenTTL, cached: cache.NewLRUExpireCache(maxCached)},
		rights: permissions{
			client: access.SubjectAccessReviews(), allowed: allowedTTL, denied: deniedTTL, cached: cache.NewLRUExpireCache(maxCached),
		},
		trusted: cache.NewLRUExpireCache(maxTrusted), trusting: cache.NewLRUExpireCache(maxTrusted),
		unknown: rate.NewLimiter(unknownPerSecond, unknownBurst),
		waiting: make(chan struct{}, maxUnknown),
		hosts:   cache.NewLRUExpireCache(maxHosts), waitingHost: make(chan struct{}, maxUnknown),
		outageLog: rate.Sometimes{Interval: time.Minute},
	}, nil
}

// Close closes the idle connections of reviews. The filter must not be used afterwards.
func (f *Filter) Close() { utilnet.CloseIdleConnectionsFor(f.client.Transport) }

// Protect returns a handler that passes allowed requests to next.
func (f *Filter) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := newCredential(r)
		r.Header.Del("Authorization") // no handler sees a token
		trusted := f.isTrusted(c)
		done, ok := f.admit(r, c.token != "" && !trusted)
		if !ok {
			reject(w, http.StatusTooManyRequests)
			return
		}
		user, status, err := func() (string, int, error) {
			defer done() // also after a panic, which net/http recovers
			return f.decide(r, c.token)
		}()
		if err != nil && r.Context().Err() == nil { // otherwise the scraper has disconnected
			f.outageLog.Do(func() {
				f.log.Warn("API server unavailable for authorization; requests allowed within the last hour are served",
					"fix", "if reviews are forbidden, bind the ClusterRole system:auth-delegator to the service account of this program", "err", err)
			})
		}
		switch {
		case status == http.StatusOK:
			f.trust(r, c, user)
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			f.trusted.Remove(c.key)
			reject(w, status)
			return
		case status == http.StatusServiceUnavailable && trusted:
		default:
			reject(w, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit reports whether a review may be sent for a request. The caller must call done when it has the result.
func (f *Filter) admit(r *http.Request, unknown bool) (done func(), ok bool) {
	if !unknown {
		return func() {}, true
	}
	waiting := f.waiting
	if known, ok := f.hosts.Get(untrusted.Host(r.RemoteAddr)); ok && known.(*rate.Limiter).Allow() {
		waiting = f.waitingHost
	} else if !f.unknown.Allow() {
		return nil, false
	}
	select {
	case waiting <- struct{}{}:
		return func() { <-waiting }, true
	default:
		return nil, false
	}
}

// trust remembers an allowed request of a user, and its host. Probes are not remembered: every user may get them, and could
// displace all other requests with new tokens.
func (f *Filter) trust(r *http.Request, c credential, user string) {
	if isProbe(r.URL.Path) {
		return
	}
	if _, known := f.trusted.Get(c.key); !known && !limiterOf(f.trusting, user, rate.Every(trustedRefill), trustedPerUser).Allow() {
		return
	}
	f.trusted.Add(c.key, nil, outage)
	limiterOf(f.hosts, untrusted.Host(r.RemoteAddr), knownPerSecond, knownBurst)
}

// limiterOf returns the limiter of a key, and keeps it for another hour.
func limiterOf(limiters *cache.LRUExpireCache, key string, limit rate.Limit, burst int) *rate.Limiter {
	kept, ok := limiters.Get(key)
	if !ok {
		kept = rate.NewLimiter(limit, burst)
	}
	limiters.Add(key, kept, outage)
	return kept.(*rate.Limiter)
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

// decide returns the name of an authenticated user, and 200, 401, 403, or 503 with the reason why the API server is unavailable.
func (f *Filter) decide(r *http.Request, token string) (name string, status int, err error) {
	if token == "" {
		return "", http.StatusUnauthorized, nil
	}
	user, err := f.users.authenticate(r.Context(), token)
	switch {
	case errors.Is(err, errRejected):
		f.log.Debug("request not authenticated", "path", r.URL.Path, "err", err)
		return "", http.StatusUnauthorized, nil
	case err != nil:
		return "", http.StatusServiceUnavailable, fmt.Errorf("TokenReview: %w", err)
	}
	access, err := f.rights.authorize(r.Context(), user, strings.ToLower(r.Method), authorizedPath(r.URL))
	switch {
	case err != nil:
		return user.Username, http.StatusServiceUnavailable, fmt.Errorf("SubjectAccessReview: %w", err)
	case !access.Allowed || access.Denied:
		f.log.Debug("request not authorized", "path", r.URL.Path, "user", user.Username, "reason", access.Reason)
		return user.Username, http.StatusForbidden, nil
	}
	return user.Username, http.StatusOK, nil
}

// authorizedPath returns the path that a user must be allowed to get. The ClusterRole system:discovery lets every user get the
// API server's own paths below /api. The program's paths there are therefore authorized as /. Probes keep their path, as on
// the API server, where the ClusterRole system:public-info-viewer lets every user get them; their verbose form, which names
// what the program watches, is authorized as / too.
func authorizedPath(u *url.URL) string {
	for _, discovery := range []string{"/api", "/apis", "/openapi", "/version"} {
		if u.Path == discovery || strings.HasPrefix(u.Path, discovery+"/") {
			return "/"
		}
	}
	if isProbe(u.Path) && u.Query().Has("verbose") {
		return "/"
	}
	return u.Path
}

func isProbe(path string) bool { return path == "/healthz" || path == "/livez" || path == "/readyz" }
