package kubeauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// credential identifies a request's token, method and path.
type credential struct {
	// token is empty if the request has none. It must not be stored.
	token string
	// key is a hash of token, method and path, so that the token is not stored.
	key [sha256.Size]byte
	// expires is the token's own expiry, the zero time without one.
	expires time.Time
}

// newCredential parses the Authorization header as the API server does, which ignores text after the token.
func newCredential(r *http.Request) credential {
	token := ""
	if parts := strings.SplitN(strings.TrimSpace(r.Header.Get("Authorization")), " ", 3); len(parts) >= 2 && strings.EqualFold(parts[0], "bearer") {
		token = parts[1]
	}
	return credential{
		token:   token,
		key:     sha256.Sum256([]byte(r.Method + "\n" + r.URL.Path + "\n" + token)),
		expires: expiry(token),
	}
}

// expiry returns the expiry of a JSON Web Token. Its signature is not checked: the caller must have verified the token
// by other means.
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

// isTrusted reports whether the request was allowed within the last hour and its token has not expired since.
func (f *Filter) isTrusted(c credential) bool {
	_, known := f.trusted.Get(c.key)
	return known && (c.expires.IsZero() || time.Now().Before(c.expires))
}
