package kubeauth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/util/retry"
)

// maxCached limits the number of cached users and of cached permissions: an authenticated client could add any number of them.
const maxCached = 4096

// retries is the backoff between attempts after errors that may be transient, within reviewTimeout.
var retries = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 3}

// errRejected means that the API server does not accept a token. Any other error means that there is no result.
var errRejected = errors.New("the API server rejected the token")

// users authenticates tokens. Only accepted tokens are cached, by their hash; concurrent requests with one token share a review.
type users struct {
	client    authenticationv1.TokenReviewInterface
	audiences []string // of accepted tokens; defaults to those of the API server
	ttl       time.Duration
	cached    *cache.LRUExpireCache // of authentication.UserInfo, by sha256 of the token
	flight    singleflight.Group
}

// authenticate returns the user of a token, errRejected, or the reason why there is no result.
func (u *users) authenticate(ctx context.Context, token string) (authentication.UserInfo, error) {
	key := sha256.Sum256([]byte(token))
	if user, ok := u.cached.Get(key); ok {
		return user.(authentication.UserInfo), nil
	}
	// A request that ends must not fail the others that wait for the same review.
	shared := context.WithoutCancel(ctx)
	result := u.flight.DoChan(string(key[:]), func() (any, error) {
		review, err := attempt(shared, func(ctx context.Context) (*authentication.TokenReview, error) {
			return u.client.Create(ctx, &authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: token, Audiences: u.audiences}}, metav1.CreateOptions{})
		})
		switch {
		case err != nil:
			return nil, err
		case !review.Status.Authenticated:
			return nil, fmt.Errorf("%w: %s", errRejected, review.Status.Error)
		case !u.isMeant(review.Status.Audiences):
			return nil, fmt.Errorf("%w: it is for another audience", errRejected)
		}
		u.cached.Add(key, review.Status.User, u.ttl)
		return review.Status.User, nil
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return authentication.UserInfo{}, r.Err
		}
		return r.Val.(authentication.UserInfo), nil
	case <-ctx.Done():
		return authentication.UserInfo{}, ctx.Err()
	}
}

// isMeant reports whether a token is for one of the audiences. An API server that does not support audiences returns none.
func (u *users) isMeant(audiences []string) bool {
	return len(u.audiences) == 0 || slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(u.audiences, a) })
}

// permissions authorizes users.
type permissions struct {
	client          authorizationv1.SubjectAccessReviewInterface
	allowed, denied time.Duration
	cached          *cache.LRUExpireCache // of authorization.SubjectAccessReviewStatus, by sha256 of the review
}

// authorize returns whether the user may use the verb on a path that is not a resource, and why.
func (p *permissions) authorize(ctx context.Context, user authentication.UserInfo, verb, path string) (access authorization.SubjectAccessReviewStatus, err error) {
	spec := authorization.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups,
		NonResourceAttributes: &authorization.NonResourceAttributes{Verb: verb, Path: path},
	}
	spec.Extra = make(map[string]authorization.ExtraValue, len(user.Extra))
	for name, values := range user.Extra {
		spec.Extra[name] = authorization.ExtraValue(values)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return access, err
	}
	key := sha256.Sum256(text) // a path may be many kilobytes long
	if known, ok := p.cached.Get(key); ok {
		return known.(authorization.SubjectAccessReviewStatus), nil
	}
	review, err := attempt(ctx, func(ctx context.Context) (*authorization.SubjectAccessReview, error) {
		return p.client.Create(ctx, &authorization.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	})
	if err != nil {
		return access, err
	}
	ttl := p.denied
	if review.Status.Allowed {
		ttl = p.allowed
	}
	p.cached.Add(key, review.Status, ttl)
	return review.Status, nil
}

// attempt sends a review and repeats it after errors that may be transient, for at most reviewTimeout. It returns the last error
// of the API server. A panic is an error as well: TokenReviews are sent by a goroutine without net/http's recovery.
func attempt[T any](ctx context.Context, send func(context.Context) (*T, error)) (result *T, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	err = retry.OnError(retries, isBrief, func() error {
		result, err = send(ctx)
		return err
	})
	return result, err
}

// isBrief reports whether another attempt may succeed.
func isBrief(err error) bool {
	_, delayed := apierrors.SuggestsClientDelay(err)
	return delayed || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err)
}
