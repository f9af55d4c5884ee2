package election

import (
	"context"
	"errors"
	"log/slog"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// newCandidate returns a candidate in a cluster without an API server, and the timeout of its requests.
func newCandidate(t *testing.T, e Election, cluster *fake.Clientset, log *slog.Logger) (c *Candidate, timeout time.Duration, err error) {
	t.Helper()
	observer, err := collectors.New(prometheus.NewRegistry(), collectors.Options{Name: "test", Checks: collectors.Checks{Audit: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	c, err = New(e, observer, func(d time.Duration) (coordinationclient.LeasesGetter, error) {
		timeout = d
		return cluster.CoordinationV1(), nil
	}, log)
	return c, timeout, err
}

// Durations default to those of Kubernetes' own components. A request times out after half of the renew deadline, so that a second
// request is possible.
func TestDefaults(t *testing.T) {
	own := Election{Namespace: "shop", Name: "exporter", Identity: "a", LeaseDuration: 60 * time.Second, RenewDeadline: 40 * time.Second, RetryPeriod: 5 * time.Second}
	short := Election{Namespace: "shop", Name: "exporter", Identity: "a"}
	for _, tc := range []struct {
		given                        Election
		lease, renew, retry, request time.Duration
	}{
		{short, 15 * time.Second, 10 * time.Second, 2 * time.Second, 5 * time.Second},
		{own, 60 * time.Second, 40 * time.Second, 5 * time.Second, 20 * time.Second},
	} {
		c, timeout, err := newCandidate(t, tc.given, fake.NewClientset(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.config; got.LeaseDuration != tc.lease || got.RenewDeadline != tc.renew || got.RetryPeriod != tc.retry || timeout != tc.request || !got.ReleaseOnCancel || got.Name != "shop/exporter" {
			t.Errorf("%+v with requests of %v, want %+v", got, timeout, tc)
		}
		c.Resign() // before the start, which does not block
	}
}

// New returns an error if the durations are invalid or the client cannot be created.
func TestNewErrors(t *testing.T) {
	wrong := Election{Namespace: "shop", Name: "exporter", Identity: "a", LeaseDuration: 10 * time.Second, RenewDeadline: 10 * time.Second}
	if _, _, err := newCandidate(t, wrong, fake.NewClientset(), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "must be greater than renewDeadline") {
		t.Errorf("a lease as long as the time to renew it: %v", err)
	}
	failure := errors.New("no certificate")
	if _, err := New(Election{}, nil, func(time.Duration) (coordinationclient.LeasesGetter, error) { return nil, failure }, slog.New(slog.DiscardHandler)); !errors.Is(err, failure) {
		t.Errorf("without a client: %v", err)
	}
}

// A candidate leads from its election to the end of that term, and again in the next one. A term that has ended before the
// candidate learns of its election changes nothing.
func TestLeading(t *testing.T) {
	if (*Candidate)(nil).Leading() != nil {
		t.Error("Leading is not nil without an election")
	}
	synctest.Test(t, func(t *testing.T) {
		var written logtest.Recorder
		c, _, err := newCandidate(t, Election{Namespace: "shop", Name: "exporter", Identity: "a"}, fake.NewClientset(), written.Logger())
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what string, leads bool, won, lost int) {
			t.Helper()
			synctest.Wait()
			if got := c.Leading(); got == nil || *got != leads {
				t.Errorf("%s: leading %v, want %t", what, got, leads)
			}
			if w, l := len(written.Find("became leader", "lease", "shop/exporter")), len(written.Find("lost leadership", "lease", "shop/exporter")); w != won || l != lost {
				t.Errorf("%s: won %d and lost %d times, want %d and %d", what, w, l, won, lost)
			}
		}
		expect("before the election", false, 0, 0)
		late, cancel := context.WithCancel(t.Context())
		cancel()
		c.lead(late)
		expect("noticed too late", false, 0, 0)
		for n := 1; n <= 2; n++ {
			term, end := context.WithCancel(t.Context())
			go c.lead(term)
			expect("elected", true, n, n-1)
			end()
			expect("not renewed", false, n, n)
		}
	})
}

// A replica audits only while it leads. After it loses the Lease, it may be elected again. It releases the Lease when it resigns.
func TestTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := fake.NewClientset()
		var down atomic.Bool
		cluster.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return down.Load(), nil, errors.New("connection refused")
		})
		c, _, err := newCandidate(t, Election{Namespace: "shop", Name: "exporter", Identity: "a"}, cluster, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		pods := informer.NewSharedIndexInformer(c.observer, informer.ID{Resource: "pods"}, &cache.ListWatch{}, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{})
		expect := func(what string, leads bool, holder string) {
			t.Helper()
			if leading, paused := *c.Leading(), informer.Statuses(c.observer)[0].LastAudit.Paused; leading != leads || paused == leads {
				t.Errorf("%s: leading %t, audits paused %t, want %t and %t", what, leading, paused, leads, !leads)
			}
			lease, err := cluster.CoordinationV1().Leases("shop").Get(t.Context(), "exporter", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				lease.Spec.HolderIdentity = new("")
			} else if err != nil {
				t.Fatal(err)
			}
			if got := *lease.Spec.HolderIdentity; got != holder {
				t.Errorf("%s: holder %q, want %q", what, got, holder)
			}
		}
		expect("before the start", false, "")
		c.Start(t.Context())
		synctest.Wait()
		expect("elected", true, "a")
		down.Store(true)
		time.Sleep(14 * time.Second) // the deadline and two retry periods
		expect("not renewed", false, "a")
		down.Store(false)
		time.Sleep(6 * time.Second)
		expect("elected again", true, "a")
		c.Resign()
		expect("resigned", false, "")
		goruntime.KeepAlive(pods) // the observer forgets unreferenced informers
	})
}
