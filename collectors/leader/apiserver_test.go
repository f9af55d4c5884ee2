package leader_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestLeadershipIsCountedExactly covers S10 with three candidates on a real Lease. Their leadership ends in every possible way,
// one way after the other. Each leader is counted once when it acquires the lock, and once when its leadership ends.
func TestLeadershipIsCountedExactly(t *testing.T) {
	e := newElection(t, 3)
	for _, c := range e.candidates {
		c.start(true)
	}

	// Released.
	first := e.leader(nil)
	first.stop()
	if got := first.transitions("released"); got != 1 {
		t.Errorf("a leader that released the lock counts %v releases", got)
	}
	leader := e.leader(first)
	first.start(true)

	// Slow renewals and a conflict: the leader keeps the lock.
	before := leader.take()
	leader.proxy.Delay(slowAnswers)
	metricstest.Eventually(t, leader.registry, "slow renewals", func(s metricstest.Snapshot) bool {
		return s["controller_leader_slow_renewals_total{lock=election}"]-before["controller_leader_slow_renewals_total{lock=election}"] >= 2
	})
	leader.reset()
	if _, err := e.client.CoordinationV1().Leases(e.namespace).Patch(t.Context(), "election", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"changed-by":"test"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	after := metricstest.Eventually(t, leader.registry, "a conflict, and a renewal after it", func(s metricstest.Snapshot) bool {
		return s["controller_leader_renew_duration_seconds_count{lock=election,result=conflict}"] == 1 &&
			s["controller_leader_last_renew_timestamp_seconds{lock=election}"] > before["controller_leader_last_renew_timestamp_seconds{lock=election}"]
	})
	if now := float64(time.Now().UnixNano()) / 1e9; after["controller_leader_last_renew_timestamp_seconds{lock=election}"] > now {
		t.Errorf("renewed in the future: now is %f, and\n%s", now, after)
	}
	for _, event := range []string{"acquired", "lost", "released"} {
		if after[transition(event)] != before[transition(event)] {
			t.Errorf("leadership changed because of slow renewals:\n%s", after)
		}
	}

	// Partitioned: packets are lost without an error. The leader stops at its renew deadline.
	partitioned := e.leader(nil)
	partitioned.proxy.HalfOpen()
	leader = e.leader(partitioned)
	partitioned.ended()
	if got := partitioned.take(); got[transition("lost")] != 1 || got["controller_leader_renew_duration_seconds_count{lock=election,result=error}"] == 0 {
		t.Errorf("after the partition:\n%s", got)
	}
	partitioned.reset()
	partitioned.start(true)

	// Killed: its context and its connections end together, so that it cannot release the lock.
	killed := leader
	lost := killed.transitions("lost")
	killed.proxy.Cut()
	killed.stop()
	if got := killed.transitions("lost") - lost; got != 1 {
		t.Errorf("a killed leader counts %v losses", got)
	}
	e.leader(killed)
	killed.reset()
	killed.start(true)

	// Frozen: the leader does not detect that its lease expires, but is no longer reported as the leader. It must not
	// release the lock: when such a leader resumes, client-go releases the lock of its successor.
	e.stop()
	frozen := e.candidates[0]
	lost = frozen.transitions("lost")
	frozen.start(false)
	e.leader(nil)
	for _, c := range e.candidates[1:] {
		c.start(true)
	}
	frozen.freezer.freeze()
	leader = e.leader(frozen)
	if got := frozen.take(); got["controller_leader{lock=election}"] != 0 || got[transition("lost")] != lost {
		t.Errorf("a frozen leader:\n%s", got)
	}
	frozen.freezer.thaw()
	frozen.ended()
	if got := frozen.transitions("lost") - lost; got != 1 {
		t.Errorf("after it resumed, it counts %v losses", got)
	}
	if last := e.leader(nil); last != leader {
		t.Errorf("the lock went from %s to %s", leader.identity, last.identity)
	}
	e.stop()

	lease, err := e.client.CoordinationV1().Leases(e.namespace).Get(t.Context(), "election", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	leaders := float64(*lease.Spec.LeaseTransitions) + 1 // as the Lease counts them
	if acquired, led := e.total(transition("acquired")), float64(e.led.Load()); acquired != leaders || led != leaders {
		t.Errorf("the Lease had %v leaders, %v acquisitions were counted, and client-go reported %v leaders", leaders, acquired, led)
	}
	// The partitioned, killed and frozen leaders lost the lock. The first leader, the one before the frozen one and the last one
	// released it.
	if lost, released := e.total(transition("lost")), e.total(transition("released")); lost != 3 || released != 3 {
		t.Errorf("%v losses and %v releases were counted, want 3 and 3", lost, released)
	}
	if leading := e.total("controller_leader{lock=election}"); leading != 0 {
		t.Errorf("%v candidates lead after the end", leading)
	}
}
