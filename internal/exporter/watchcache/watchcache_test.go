package watchcache

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// server is an API server with two resources. It counts requests.
type server struct {
	frozen   map[string]bool // resources with a cache that etcd does not feed
	refused  error
	silent   bool // lists have no version
	requests int
	asked    []string // resources and namespaces that were listed without a version
}

func (s *server) list(_ context.Context, resource schema.GroupVersionResource, namespace, notOlderThan string) (string, error) {
	s.requests++
	if s.refused != nil {
		return "", s.refused
	}
	if s.silent {
		return "", nil
	}
	if notOlderThan == "" {
		s.asked = append(s.asked, namespace+"/"+resource.Resource)
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
		scopes := []Scope{{schema.GroupVersionResource{Resource: "pods"}, "team"}, {Resource: schema.GroupVersionResource{Resource: "nodes"}}}
		var logs logtest.Recorder
		c := New(s.list, func() []Scope { return scopes }, logs.Logger())
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
		if s.requests != 20 || !slices.Equal(s.asked[:2], []string{"/nodes", "team/pods"}) {
			t.Errorf("%d requests in ten minutes, in the order %v", s.requests, s.asked)
		}
		s.silent = true
		state(2, 0, 0)
		if s.requests != 22 {
			t.Errorf("%d requests for a version that the server does not have", s.requests-20)
		}
		s.silent = false
		s.frozen["nodes"] = true // the other resource does not hide it
		state(10, 5*time.Minute, 10*time.Minute)
		s.refused = errors.New("token expired")
		state(2, 0, 0)
		s.refused = nil
		state(5, time.Minute, 5*time.Minute)
		s.frozen["nodes"] = false
		state(2, 0, 0)
		// The runbook reads the resource and the version in the log.
		for message, found := range map[string][]logtest.Line{
			"lacks a version": logs.Find("watch cache lacks a version", "resource", "nodes", "version", "7"),
			"has the version": logs.Find("watch cache has the version", "resource", "nodes", "version", "7"),
			"no second list":  logs.FindDebug("watch cache is not possible", "resource", "nodes", "err", "token expired"),
			"no first list":   logs.FindDebug("watch cache is not possible", "resource", "pods", "err", "token expired"),
		} {
			if want := map[string]int{"lacks a version": 2}[message]; len(found) != max(1, want) {
				t.Errorf("%d lines with %q", len(found), message)
			}
		}
		scopes = nil
		before := s.requests
		state(5, 0, 0)
		if s.requests != before {
			t.Error("requests without a resource")
		}
	})
}
