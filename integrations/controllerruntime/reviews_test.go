package controllerruntime_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// reviews is the transport of a client of an API server that answers TokenReviews and SubjectAccessReviews. A token belongs to
// the user of that name. Unless it is allowed, all access is denied. It is safe for concurrent use; its clock is that of a synctest bubble.
type reviews struct {
	mu      sync.Mutex
	down    bool
	allowed map[string]bool // by user and path
}

// config returns the configuration of its clients.
func (s *reviews) config() *rest.Config {
	return &rest.Config{Host: "https://api", Transport: s, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// setDown makes it unreachable.
func (s *reviews) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// RoundTrip implements http.RoundTripper.
func (s *reviews) RoundTrip(r *http.Request) (*http.Response, error) {
	defer func() { _ = r.Body.Close() }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errors.New("connection refused")
	}
	var token authenticationv1.TokenReview
	var access authorizationv1.SubjectAccessReview
	review := any(&access)
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		review = &token
	}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		return nil, err
	}
	token.Status.Authenticated, token.Status.User.Username = true, token.Spec.Token
	if path := access.Spec.NonResourceAttributes; path != nil {
		access.Status.Allowed = s.allowed[access.Spec.User+path.Path]
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(review)
	return w.Result(), err
}
