package controllerruntime_test

import (
	"context"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestLeaderElection: the decorated lock has the labels, the configuration and the Events of the manager's own, and leadership
// is reported (O4).
func TestLeaderElection(t *testing.T) {
	namespace := stacktest.Namespace(t)
	own := rest.CopyConfig(stacktest.Config(t))
	var created atomic.Int32
	own.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/leases") {
				created.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	m := newManager(t, stacktest.Config(t), ctrl.Options{
		LeaderElection: true, LeaderElectionID: "lock", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
		LeaderElectionLabels: map[string]string{"a": "b"}, LeaderElectionConfig: own,
	})
	m.run()
	m.eventually("the lock is held", func() bool { return m.samples().Sum("controller_leader", "lock", namespace+"/lock") == 1 })
	api, err := client.New(stacktest.Config(t), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lease coordinationv1.Lease
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "lock"}, &lease); err != nil {
		t.Fatal(err)
	}
	if lease.Labels["a"] != "b" {
		t.Errorf("the labels of the lease are %v", lease.Labels)
	}
	if n := created.Load(); n != 1 {
		t.Errorf("%d leases have been created through LeaderElectionConfig, want 1", n)
	}
	if n := m.samples().Sum("k8s_client_requests_total", "resource", "leases.coordination.k8s.io", "verb", "create"); n != 1 {
		t.Errorf("%v requests to create the lease are reported, want 1", n)
	}
	await.True(t, "the Event is recorded", func() bool {
		var events corev1.EventList
		if err := api.List(t.Context(), &events, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		return len(events.Items) == 1 && events.Items[0].Reason == "LeaderElection" && events.Items[0].InvolvedObject.Name == "lock"
	})
	m.stop()
	await.True(t, "nothing records Events any more", func() bool {
		var stacks strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		return !strings.Contains(stacks.String(), "client-go/tools/record.")
	})
	for event, want := range map[string]float64{"acquired": 1, "released": 1, "lost": 0} {
		if n := m.samples().Sum("controller_leader_transitions_total", "event", event); n != want {
			t.Errorf("the lock was %s %v times, want %v", event, n, want)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestNamespaceOfTheLock: without a namespace, the lock is in that of the service account, or the manager returns
// controller-runtime's own error. The test of examples/controller-runtime has a service account.
func TestNamespaceOfTheLock(t *testing.T) {
	const file = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	if _, err := os.Stat(file); err == nil {
		t.Skip("this machine has " + file)
	}
	for _, options := range []ctrl.Options{{LeaderElectionID: "lock"}, {LeaderElectionNamespace: "default"}} {
		options.LeaderElection = true
		_, want := ctrl.NewManager(unreachable(), quiet(options))
		_, got := controllerruntime.NewManager(unreachable(), quiet(options), controllerruntime.Options{Name: "test", Registerer: prometheus.NewRegistry()})
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("the error is %v, want %v", got, want)
		}
	}
}

// TestOwnLock: a lock of the caller is used and decorated.
func TestOwnLock(t *testing.T) {
	lock := &ownLock{}
	retry := time.Minute // after the first attempt
	m := newManager(t, unreachable(), ctrl.Options{
		LeaderElection: true, LeaderElectionResourceLockInterface: lock,
		RetryPeriod: &retry, RenewDeadline: new(2 * time.Minute), LeaseDuration: new(3 * time.Minute),
	})
	m.run()
	m.eventually("leadership is reported", func() bool { return m.samples().Sum("controller_leader", "lock", "own") == 1 })
}

// ownLock is a lock without an API server, which another candidate may hold.
type ownLock struct{ holder string }

func (l *ownLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if l.holder != "" {
		return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder, LeaseDurationSeconds: 3600, RenewTime: metav1.Now()}, nil, nil
	}
	return nil, nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), "own")
}

func (*ownLock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
func (*ownLock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }
func (*ownLock) RecordEvent(string)                                              {}
func (*ownLock) Identity() string                                                { return "test" }
func (*ownLock) Describe() string                                                { return "own" }
