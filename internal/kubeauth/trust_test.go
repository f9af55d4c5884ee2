package kubeauth

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
)

func token(payload string) string {
	return "h." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".s"
}

func TestExpiry(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "opaque": 0, "a.b": 0, "a.!.c": 0, token("no JSON"): 0, token("{}"): 0, token(`{"exp":"soon"}`): 0,
		token(`{"exp":1700000000}`): 1700000000, token(`{"exp":1700000000.5,"iss":"x"}`): 1700000000,
	} {
		got := expiry(text)
		if want == 0 && !got.IsZero() || want != 0 && got.Unix() != want {
			t.Errorf("%q expires %v, want %v", text, got, want)
		}
	}
}

// Trust belongs to one token, method and path, and ends when the token expires.
func TestTrust(t *testing.T) {
	f := &Filter{trusted: cache.NewLRUExpireCache(10)}
	request := func(method, path, authorization string) credential {
		r := httptest.NewRequest(method, path, http.NoBody)
		r.Header.Set("Authorization", authorization)
		return newCredential(r)
	}
	in := func(d time.Duration) string {
		return "Bearer " + token(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(d).Unix()))
	}
	valid, expired := in(time.Hour), in(-time.Hour)
	for _, authorization := range []string{valid, expired, "Bearer opaque"} {
		f.trusted.Add(request(http.MethodGet, "/metrics", authorization).key, nil, time.Hour)
	}
	for _, tc := range []struct {
		method, path, authorization string
		want                        bool
	}{
		{http.MethodGet, "/metrics", valid, true},
		{http.MethodGet, "/metrics", "Bearer opaque", true},
		{http.MethodGet, "/metrics", expired, false},
		{http.MethodGet, "/metrics", expired + " and more", false}, // which the authenticator ignores
		{http.MethodGet, "/metrics", valid + " and more", true},
		{http.MethodGet, "/metrics", strings.Replace(valid, "Bearer", "bearer", 1), true},
		{http.MethodGet, "/metrics", "Bearer other", false},
		{http.MethodGet, "/", valid, false},
		{http.MethodPost, "/metrics", valid, false},
	} {
		if got := f.isTrusted(request(tc.method, tc.path, tc.authorization)); got != tc.want {
			t.Errorf("%s %s with %s: %t, want %t", tc.method, tc.path, tc.authorization, got, tc.want)
		}
	}
}
