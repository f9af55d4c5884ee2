package fakeapi

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

// Reviews is the transport of a client of an API server that answers TokenReviews and SubjectAccessReviews. A token belongs to
// the user of that name. It is safe for concurrent use; its clock is that of a synctest bubble.
type Reviews struct {
	mu             sync.Mutex
	down           bool
	allowed        map[string]bool // by user and path
	tokens, access int
}

// NewReviews returns an API server that denies everything.
func NewReviews() *Reviews { return &Reviews{allowed: map[string]bool{}} }

// Config returns the configuration of its clients.
func (s *Reviews) Config() *rest.Config {
	return &rest.Config{Host: "https://api", Transport: s, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// SetDown makes it unreachable.
func (s *Reviews) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// SetAllowed grants or revokes the permission of a user to get a path.
func (s *Reviews) SetAllowed(user, path string, allowed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed[user+path] = allowed
}

// Take returns the number of reviews since the last call.
func (s *Reviews) Take() (tokens, access int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tokens, access = s.tokens, s.access
	s.tokens, s.access = 0, 0
	return tokens, access
}

// RoundTrip implements http.RoundTripper.
func (s *Reviews) RoundTrip(r *http.Request) (*http.Response, error) {
	defer func() { _ = r.Body.Close() }()
	s.mu.Lock()
	defer s.mu.Unlock()
	var (
		review any
		answer func()
	)
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		s.tokens++
		token := &authenticationv1.TokenReview{}
		review, answer = token, func() { token.Status.Authenticated, token.Status.User.Username = true, token.Spec.Token }
	} else {
		s.access++
		access := &authorizationv1.SubjectAccessReview{}
		review, answer = access, func() { access.Status.Allowed = s.allowed[access.Spec.User+access.Spec.NonResourceAttributes.Path] }
	}
	if s.down {
		return nil, errors.New("connection refused")
	}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		return nil, err
	}
	answer()
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(review)
	return w.Result(), err
}
