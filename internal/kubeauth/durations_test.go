package kubeauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These tests repeat the numbers of the package on purpose: a longer cache is a token that works after its deletion.

// timed is a filter with its real limits in front of an API server without a network, in a bubble.
type timed struct {
	protected
	server *apiServer
	down   bool
	deny   bool
}

// inBubble runs f with a clock that advances only while f sleeps.
func inBubble(t *testing.T, f func(*testing.T, *timed)) {
	synctest.Test(t, func(t *testing.T) {
		s := &timed{server: &apiServer{}, protected: protected{T: t, asked: &reviews{paths: map[string]int{}}, log: &strings.Builder{}}}
		s.server.fault = func(r *http.Request) (*http.Response, error) {
			switch {
			case s.down:
				return nil, errors.New("unavailable")
			case s.deny && strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
				return answer(r, http.StatusCreated, authorization.SubjectAccessReview{
					TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
				})
			}
			return nil, nil
		}
		config := s.server.config()
		config.Wrap(s.asked.wrap)
		filter, err := New(config, Options{Logger: slog.New(slog.NewTextHandler(s.log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer filter.Close()
		s.filter, s.handler = filter, filter.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		f(t, s)
	})
}

// from sends a request with a token from a host.
func (s *timed) from(host, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	r.RemoteAddr = host + ":1234"
	r.Header.Set("Authorization", "Bearer "+token)
	response := httptest.NewRecorder()
	s.handler.ServeHTTP(response, r)
	return response
}

// passed returns how many of n requests with different tokens from a host are not rejected for their number.
func (s *timed) passed(n int, host, token string) (passed int) {
	for i := range n {
		if s.from(host, fmt.Sprint(token, "-", time.Now().UnixNano(), "-", i)).Code != http.StatusTooManyRequests {
			passed++
		}
	}
	return passed
}

const moment = time.Millisecond

// wantReviews fails unless that many reviews were sent since the last call.
func (s *timed) wantReviews(what string, tokens, access int) {
	s.Helper()
	if t, a := s.asked.take(); t != tokens || a != access {
		s.Errorf("%s: %d TokenReviews and %d SubjectAccessReviews, want %d and %d", what, t, a, tokens, access)
	}
}

// Tokens are cached for one minute, permissions for five, refusals for half a minute. A use does not extend them.
func TestHowLongReviewsAreCached(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *timed) {
		s.want("new", "/metrics", "prometheus-1", http.StatusOK)
		s.wantReviews("new", 1, 1)
		for minute := 1; minute <= 4; minute++ {
			time.Sleep(time.Minute - moment)
			s.want("cached", "/metrics", "prometheus-1", http.StatusOK)
			s.wantReviews(fmt.Sprintf("just before %d minutes", minute), 0, 0)
			time.Sleep(2 * moment)
			s.want("cached", "/metrics", "prometheus-1", http.StatusOK)
			s.wantReviews(fmt.Sprintf("after %d minutes", minute), 1, 0)
		}
		time.Sleep(time.Minute - 6*moment)
		s.want("cached", "/metrics", "prometheus-1", http.StatusOK)
		s.wantReviews("just before 5 minutes", 0, 0)
		time.Sleep(4 * moment)
		s.want("cached", "/metrics", "prometheus-1", http.StatusOK)
		s.wantReviews("after 5 minutes", 0, 1)
	})
	inBubble(t, func(_ *testing.T, s *timed) {
		s.deny = true
		s.want("refused", "/metrics", "stranger-1", http.StatusForbidden)
		s.wantReviews("refused", 1, 1)
		s.deny = false
		time.Sleep(30*time.Second - moment)
		s.want("granted since", "/metrics", "stranger-1", http.StatusForbidden)
		s.wantReviews("just before half a minute", 0, 0)
		time.Sleep(2 * moment)
		s.want("granted since", "/metrics", "stranger-1", http.StatusOK)
		s.wantReviews("after half a minute", 0, 1)
	})
}

// During an outage, a request is allowed until an hour after the API server last allowed it. The outage is logged once a minute.
func TestHowLongAnOutageIsSurvived(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		s.want("new", "/metrics", "prometheus-1", http.StatusOK)
		time.Sleep(30 * time.Minute)
		s.want("again", "/metrics", "prometheus-1", http.StatusOK)
		s.down = true
		logged := func() int { return strings.Count(s.log.String(), "API server unavailable") }
		time.Sleep(time.Minute + moment)
		s.want("in the outage", "/metrics", "prometheus-1", http.StatusOK)
		time.Sleep(time.Minute - moment)
		s.want("in the outage", "/metrics", "prometheus-1", http.StatusOK)
		if n := logged(); n != 1 {
			t.Errorf("%d lines within a minute, want 1", n)
		}
		time.Sleep(2 * moment)
		s.want("in the outage", "/metrics", "prometheus-1", http.StatusOK)
		if n := logged(); n != 2 {
			t.Errorf("%d lines after a minute, want 2", n)
		}
		time.Sleep(58*time.Minute - 3*moment)
		s.want("just before an hour", "/metrics", "prometheus-1", http.StatusOK)
		time.Sleep(2 * moment)
		got := s.get("/metrics", "prometheus-1")
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "5" {
			t.Errorf("after an hour: %d, %v", got.Code, got.Header())
		}
	})
}

// Requests with unknown tokens: 100 at once and 50 a second for all hosts. A host with an allowed request within the last hour has
// another 20 and 5 a second.
func TestHowManyUnknownTokens(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		s.deny = true
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 100}, {time.Second, 50}, {100 * time.Second, 100}} {
			time.Sleep(step.after)
			if n := s.passed(200, "192.0.2.9", "x"); n != step.want {
				t.Errorf("%d of all after %v, want %d", n, step.after, step.want)
			}
		}
	})
	inBubble(t, func(t *testing.T, s *timed) {
		s.from("192.0.2.1", "prometheus-1")
		exhaust := func() { s.passed(300, "192.0.2.9", "x") }
		s.deny = true // so that no other request makes a host known
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 20}, {time.Second, 5}, {time.Minute, 20}, {59*time.Minute - time.Second - moment, 20}, {2 * moment, 0}} {
			time.Sleep(step.after)
			exhaust()
			if n := s.passed(200, "192.0.2.1", "y"); n != step.want {
				t.Errorf("%d of a known host after %v, want %d", n, step.after, step.want)
			}
		}
	})
}

// The last 100 hosts are known.
func TestHowManyHosts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		host := func(n int) string { return fmt.Sprintf("198.51.100.%d", n) }
		for n := range 101 {
			time.Sleep(time.Second)
			s.from(host(n), fmt.Sprintf("user%d-1", n))
		}
		s.deny = true
		for n, want := range map[int]bool{0: false, 1: true, 100: true} {
			s.passed(300, "192.0.2.9", "x")
			if got := s.passed(1, host(n), "y") == 1; got != want {
				t.Errorf("host %d is known: %t, want %t", n, got, want)
			}
		}
	})
}

// Of each user, 20 requests are remembered for an outage at once and one more a minute, and 1000 of all users.
func TestHowManyRequestsAreRemembered(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		remembered := func() int { return len(s.filter.trusted.Keys()) }
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 20}, {time.Minute - moment, 20}, {2 * moment, 21}, {10 * time.Minute, 31}} {
			time.Sleep(step.after)
			s.passed(50, "192.0.2.1", "minter")
			if n := remembered(); n != step.want {
				t.Errorf("%d of one user after %v, want %d", n, step.after, step.want)
			}
		}
	})
	inBubble(t, func(t *testing.T, s *timed) {
		for n := range 1001 {
			time.Sleep(time.Second)
			s.from("192.0.2.1", fmt.Sprintf("user%d-1", n))
		}
		if n := len(s.filter.trusted.Keys()); n != 1000 {
			t.Errorf("%d of all users, want 1000", n)
		}
		if n := len(s.filter.trusting.Keys()); n != 1000 {
			t.Errorf("%d users are remembered, want 1000", n)
		}
	})
	inBubble(t, func(t *testing.T, s *timed) { // an hour after its last request, a user is forgotten
		s.passed(20, "192.0.2.1", "minter")
		time.Sleep(time.Minute)
		if _, ok := s.filter.trusting.Get("minter"); !ok {
			t.Error("the user is forgotten after a minute")
		}
		time.Sleep(59*time.Minute - moment)
		if _, ok := s.filter.trusting.Get("minter"); !ok {
			t.Error("the user is forgotten before an hour")
		}
		time.Sleep(2 * moment)
		if _, ok := s.filter.trusting.Get("minter"); ok {
			t.Error("the user is not forgotten after an hour")
		}
	})
}

// At most 4096 tokens and permissions are cached.
func TestHowManyReviewsAreCached(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		for n := range 4097 {
			time.Sleep(5 * moment)
			s.filter.unknown.SetBurst(1 << 20)
			s.filter.unknown.SetLimit(1 << 20)
			s.from("192.0.2.1", fmt.Sprintf("user%d-1", n))
		}
		if tokens, access := len(s.filter.users.cached.Keys()), len(s.filter.rights.cached.Keys()); tokens != 4096 || access != 4096 {
			t.Errorf("%d tokens and %d permissions are cached, want 4096", tokens, access)
		}
	})
}

// A scrape times out after 10 s by default: two reviews get 4 s each, with three attempts after brief errors.
func TestHowLongReviewsTake(t *testing.T) {
	for took, want := range map[time.Duration]int{4*time.Second - moment: http.StatusOK, 4*time.Second + moment: http.StatusServiceUnavailable} {
		inBubble(t, func(t *testing.T, s *timed) {
			s.server.fault = func(r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(took):
					return nil, nil
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			began := time.Now()
			s.want(fmt.Sprint("reviews of ", took), "/metrics", "prometheus-1", want)
			if waited := time.Since(began); waited > 8*time.Second {
				t.Errorf("%v", waited)
			}
		})
	}
	inBubble(t, func(t *testing.T, s *timed) {
		var at []time.Duration
		began := time.Now()
		s.server.fault = func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Since(began))
			return answer(r, http.StatusInternalServerError, metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError})
		}
		s.want("errors", "/metrics", "prometheus-1", http.StatusServiceUnavailable)
		if len(at) != 3 {
			t.Fatalf("%d attempts, want 3", len(at))
		}
		for i, least := range []time.Duration{0, 200 * time.Millisecond, 300 * time.Millisecond} {
			if i == 0 {
				continue
			}
			if wait := at[i] - at[i-1]; wait < least || wait > least*6/5 {
				t.Errorf("attempt %d after %v, want %v and up to a fifth more", i, wait, least)
			}
		}
	})
}

// While the API server hangs, 10 requests with unknown tokens wait for it, and 10 more of known hosts.
func TestHowManyRequestsWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *timed) {
		s.from("192.0.2.1", "prometheus-1")
		s.server.fault = func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		for _, host := range []string{"192.0.2.9", "192.0.2.1"} {
			statuses := make(chan int, 15)
			for n := range 15 {
				go func() { statuses <- s.from(host, fmt.Sprint("x-", host, n)).Code }()
			}
			synctest.Wait() // the others wait
			if rejected := len(statuses); rejected != 5 {
				t.Errorf("%d of 15 requests from %s were rejected, want 5", rejected, host)
			}
		}
		time.Sleep(time.Minute)
	})
}

// A review that both allows and denies is a denial.
func TestAllowedAndDenied(t *testing.T) {
	inBubble(t, func(_ *testing.T, s *timed) {
		s.server.fault = func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/subjectaccessreviews") {
				return nil, nil
			}
			return answer(r, http.StatusCreated, authorization.SubjectAccessReview{
				TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"},
				Status:   authorization.SubjectAccessReviewStatus{Allowed: true, Denied: true},
			})
		}
		s.want("allowed and denied", "/metrics", "prometheus-1", http.StatusForbidden)
	})
}
