package kubeauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// credential is what a request was sent with.
type credential struct {
	// given tells that there is something that the API server would be asked about.
	given bool
	// key stands for token, method and path, without keeping the token.
	key [sha256.Size]byte
	// expires is when the token does, by its own account: the zero time if it says nothing.
	expires time.Time
}

// newCredential finds the token where the authenticator does (k8s.io/apiserver/pkg/authentication/request/bearertoken): what
// that one overlooks must not make another credential of it.
func newCredential(r *http.Request) credential {
	token := ""
	if parts := strings.SplitN(strings.TrimSpace(r.Header.Get("Authorization")), " ", 3); len(parts) >= 2 && strings.EqualFold(parts[0], "bearer") {
		token = parts[1]
	}
	return credential{
		given:   token != "",
		key:     sha256.Sum256([]byte(r.Method + "\n" + r.URL.Path + "\n" + token)),
		expires: expiry(token),
	}
}

// expiry returns when a token expires if it is a JSON Web Token that says so. Its signature is not checked: who trusts
// the answer has to know the token otherwise.
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil || claims.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}

// isTrusted tells whether a request like it has been let in within the last hour and its token has not expired since.
func (f *Filter) isTrusted(c credential) bool {
	_, known := f.trusted.Get(c.key)
	return known && (c.expires.IsZero() || time.Now().Before(c.expires))
}

// unanswered tells whether an error of the authenticator means that the API server has given no answer about the token.
// A token that it does not accept is an error, too.
func unanswered(err error) bool {
	var several utilerrors.Aggregate // errors.As does not look into it
	if errors.As(err, &several) {
		return slices.ContainsFunc(several.Errors(), unanswered)
	}
	var refused apierrors.APIStatus
	var unreachable *url.Error
	return errors.As(err, &refused) || errors.As(err, &unreachable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
