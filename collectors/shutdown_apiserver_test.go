package collectors_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestShutdownFreesTheLock covers S23 and O2 with real informers, a worker and a Lease: while a reconcile is in progress
// nothing that it needs is taken away, and afterwards the next replica leads long before the lease expires. A worker that
// hangs delays that and does not prevent it.
func TestShutdownFreesTheLock(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		name := "workers end"
		if hangs {
			name = "a worker hangs"
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t, stacktest.Config(t))
			lister := r.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(r.namespace)
			began, release, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			defer close(over)
			w := newWorker(r, func(context.Context, string) error {
				close(began)
				<-release
				if hangs {
					<-over
					return nil
				}
				// What a reconcile needs is still there.
				if _, err := lister.Get("last"); err != nil {
					t.Errorf("the cache is gone: %v", err)
				}
				check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{"k8s_informer_synced": 1})
				if holder := r.holder(); holder != "old" {
					t.Errorf("while a worker runs, %q holds the lock", holder)
				}
				return nil
			})
			t.Cleanup(w.running.Wait)
			informersCtx, stopInformers := context.WithCancel(context.Background())
			defer stopInformers()
			r.factory.StartWithContext(informersCtx)
			r.waitFor("synced", synced)
			leads, resign, resigned := r.candidate("old")
			defer resign()
			<-leads
			r.create("last")
			<-began

			err := r.obs.ShutdownController(t.Context(), "c", collectors.ShutdownSteps{
				StopIntake: func(context.Context) error {
					defer close(release)
					err := w.informer.RemoveEventHandler(w.handler)
					w.queue.ShutDown()
					return err
				},
				DrainWorkers:  func(context.Context) error { w.running.Wait(); return nil },
				StopInformers: func(context.Context) error { stopInformers(); r.factory.Shutdown(); return nil },
				ReleaseLock: func(context.Context) error {
					resign()
					<-resigned
					return nil
				},
				GracePeriod: 20 * time.Second,
			})
			if errors.Is(err, context.DeadlineExceeded) != hangs {
				t.Errorf("the shutdown returned %v", err)
			}
			drained := "success"
			if hangs {
				drained = "timeout"
			}
			s := metricstest.Take(t, r.registry)
			for step, result := range map[string]string{
				"stop_intake": "success", "drain_workers": drained, "stop_informers": "success", "release_lock": "success",
			} {
				if _, ok := s["controller_shutdown_duration_seconds{controller=c,result="+result+",step="+step+"}"]; !ok {
					t.Errorf("%s is not %s:\n%s", step, result, s)
				}
			}
			if _, ok := s["k8s_informer_synced"]; ok {
				t.Error("the informers still run")
			}
			if holder := r.holder(); holder != "" {
				t.Errorf("%q holds the lock", holder)
			}
			leads, resign, resigned = r.candidate("new")
			<-leads // the lease of the old one would have lasted for an hour
			resign()
			<-resigned
		})
	}
}

const lock = "lock"

func (r *rig) holder() string {
	r.Helper()
	lease, err := r.client.CoordinationV1().Leases(r.namespace).Get(context.Background(), lock, metav1.GetOptions{})
	if err != nil {
		r.Error(err)
		return ""
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// candidate fights for the lock until resign is called.
func (r *rig) candidate(identity string) (leads <-chan struct{}, resign func(), resigned <-chan struct{}) {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: r.namespace, Name: lock},
			Client:     r.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: time.Hour, RenewDeadline: time.Minute, RetryPeriod: time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(started) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		r.Fatal(err)
	}
	go func() { defer close(ended); elector.Run(ctx) }()
	return started, cancel, ended
}
