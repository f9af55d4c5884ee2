package election

import (
	"errors"
	"log/slog"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// A candidate that was disconnected or paused until another one became the leader does not release that leader's Lease, as
// client-go would.
func TestReleaseOfAnothersLease(t *testing.T) {
	ctx, config, namespace := t.Context(), stacktest.Config(t), stacktest.Namespace(t)
	candidate := func(identity string) *leaseLock {
		return newLeaseLock(&resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "exporter"}, Client: coordinationclient.NewForConfigOrDie(config),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}, slog.New(slog.DiscardHandler))
	}
	record := func(holder string) resourcelock.LeaderElectionRecord {
		return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15}
	}
	first, second := candidate("first"), candidate("second")
	holder := func() string {
		t.Helper()
		lease, _, err := candidate("").Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return lease.HolderIdentity
	}
	for _, err := range []error{first.Create(ctx, record("first")), errorOf(second.Get(ctx)), second.Update(ctx, record("second")), errorOf(first.Get(ctx))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Update(ctx, record("")); !errors.Is(err, errHeldByAnother) || holder() != "second" {
		t.Errorf("the first releases the Lease of the second: %v, the holder is %q", err, holder())
	}
	if err := errors.Join(errorOf(second.Get(ctx)), second.Update(ctx, record(""))); err != nil || holder() != "" {
		t.Errorf("the second cannot release its Lease: %v, the holder is %q", err, holder())
	}
}

func errorOf(_ *resourcelock.LeaderElectionRecord, _ []byte, err error) error { return err }
