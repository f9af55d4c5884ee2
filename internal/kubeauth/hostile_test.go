package kubeauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// apiServer responds to reviews without a network. It accepts each token as that of the user before the first dash, and allows each
// user everything.
type apiServer struct {
	// fault handles a review instead, unless it returns neither a response nor an error.
	fault func(r *http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper.
func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if s.fault != nil {
		if response, err := s.fault(r); response != nil || err != nil {
			return response, err
		}
	}
	if strings.HasSuffix(r.URL.Path, "/subjectaccessreviews") {
		return answer(r, http.StatusCreated, authorization.SubjectAccessReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
			Status:   authorization.SubjectAccessReviewStatus{Allowed: true},
		})
	}
	var review authentication.TokenReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	user, _, _ := strings.Cut(review.Spec.Token, "-")
	review.Status = authentication.TokenReviewStatus{Authenticated: true, User: authentication.UserInfo{Username: user}}
	return answer(r, http.StatusCreated, review)
}

// CloseIdleConnections does nothing: there are none.
func (s *apiServer) CloseIdleConnections() {}

func answer(r *http.Request, status int, object any) (*http.Response, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(text))),
	}, nil
}

func (s *apiServer) config() *rest.Config {
	json := rest.ContentConfig{AcceptContentTypes: "application/json", ContentType: "application/json"}
	return &rest.Config{Host: "http://api.example.com", Transport: s, ContentConfig: json}
}

// A user that may scrape and sends a new token each time does not displace the tokens of others that are allowed during an outage.
func TestMintedTokens(t *testing.T) {
	t.Parallel()
	s := &apiServer{}
	p := protect(t, s.config(), short, short, short)
	p.filter.unknown = rate.NewLimiter(rate.Inf, 1) // an hour of tokens in a moment
	p.want("authorized", "/metrics", "prometheus-1", http.StatusOK)
	for n := 0; n < 2*maxTrusted && !t.Failed(); n++ {
		p.want("minted", "/metrics", fmt.Sprint("minter-", n), http.StatusOK)
	}
	if n := len(p.filter.trusted.Keys()); n > maxTrusted/10 {
		t.Errorf("%d requests are remembered for two users", n)
	}
	s.fault = func(*http.Request) (*http.Response, error) { return nil, errors.New("unavailable") }
	p.want("during an outage", "/metrics", "prometheus-1", http.StatusOK)
	p.want("minted during an outage", "/metrics", "minter-new", http.StatusServiceUnavailable)
}

// A request gets a response within the scrape timeout of ten seconds, however slowly the API server responds to both reviews, and
// regardless of its Retry-After.
func TestReviewsHaveADeadline(t *testing.T) {
	for name, fault := range map[string]func(*http.Request) (*http.Response, error){
		"no response": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"slow errors": func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(3 * time.Second):
				return answer(r, http.StatusInternalServerError, metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError})
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		},
		"retry in 30 years": func(r *http.Request) (*http.Response, error) {
			response, err := answer(r, http.StatusTooManyRequests, metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonTooManyRequests, Code: http.StatusTooManyRequests})
			if err == nil {
				response.Header.Set("Retry-After", fmt.Sprint(30*365*24*60*60))
			}
			return response, err
		},
	} {
		for _, path := range []string{"/tokenreviews", "/subjectaccessreviews"} {
			t.Run(name+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &apiServer{fault: func(r *http.Request) (*http.Response, error) {
						if strings.HasSuffix(r.URL.Path, path) {
							return fault(r)
						}
						time.Sleep(reviewTimeout - time.Second) // the other one is slow, too
						return nil, nil
					}}
					p := protect(t, s.config(), short, short, short)
					begun := time.Now()
					p.want("unavailable", "/metrics", "prometheus-1", http.StatusServiceUnavailable)
					if took := time.Since(begun); took > 2*reviewTimeout {
						t.Errorf("the response took %v, want at most %v", took, 2*reviewTimeout)
					}
				})
			})
		}
	}
}

// A review that panics has no result. It does not end the process, nor reduce the number of requests that may wait for the API server.
func TestReviewsThatPanic(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/tokenreviews", "/subjectaccessreviews"} {
		s := &apiServer{fault: func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, path) {
				panic("broken transport")
			}
			return nil, nil
		}}
		p := protect(t, s.config(), short, short, short)
		p.filter.unknown = rate.NewLimiter(rate.Inf, 1)
		for range maxUnknown + 1 {
			p.want("unavailable", "/metrics", "prometheus-1", http.StatusServiceUnavailable)
		}
		if written := p.log.String(); !strings.Contains(written, "broken transport") || !strings.Contains(written, "hostile_test.go") {
			t.Errorf("the log lacks the panic and its stack: %s", written)
		}
		s.fault = nil
		p.want("afterwards", "/metrics", "prometheus-1", http.StatusOK)
	}
}
