package watchcache

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// server is an API server with two resources. It counts requests.
type server struct {
	frozen   map[string]bool // resources with a cache that etcd does not feed
	refused  error
	requests int
	asked    []string // resources that were listed without a version
}

func (s *server) list(_ context.Context, resource schema.GroupVersionResource, _, notOlderThan string) (string, error) {
	s.requests++
	if s.refused != nil {
		return "", s.refused
	}
	if notOlderThan == "" {
		s.asked = append(s.asked, resource.Resource)
		return "7", nil
	}
	if s.frozen[resource.Resource] {
		err := apierrors.NewTimeoutError("Too large resource version: 7, current: 5", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return "", err
	}
	return "7", nil
}

// TestFrozen follows an API server through health, a frozen cache of one resource, and health (Z2).
func TestFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{frozen: map[string]bool{}}
		scopes := []Scope{{Resource: schema.GroupVersionResource{Resource: "pods"}}, {Resource: schema.GroupVersionResource{Resource: "nodes"}}}
		c := New(s.list, func() []Scope { return scopes }, slog.New(slog.DiscardHandler))
		state := func(minutes int, least, most time.Duration) {
			t.Helper()
			for range minutes {
				c.Check(t.Context())
				time.Sleep(Interval)
			}
			if got := c.Stale(); got < least || got > most {
				t.Errorf("stale for %v, want %v to %v", got, least, most)
			}
		}
		state(10, 0, 0)
		if s.requests != 20 || len(s.asked) < 2 || s.asked[0] == s.asked[1] {
			t.Errorf("%d requests in ten minutes, in the order %v", s.requests, s.asked)
		}
		s.frozen["nodes"] = true // the other resource does not hide it
		state(10, 5*time.Minute, 10*time.Minute)
		s.refused = errors.New("token expired")
		state(2, 0, 0)
		s.refused = nil
		state(5, time.Minute, 5*time.Minute)
		s.frozen["nodes"] = false
		state(2, 0, 0)
		scopes = nil
		before := s.requests
		state(5, 0, 0)
		if s.requests != before {
			t.Error("requests without a resource")
		}
	})
}
