package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestController: reconciles, retries, requests and leadership are reported (S8, S9, S10, S17, O4), and controller-runtime
// still reports its own metrics.
func TestController(t *testing.T) {
	namespace := stacktest.Namespace(t)
	m := start(t, ctrl.Options{
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection: true, LeaderElectionID: name, LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
	})
	m.eventually("the lock is held", func() bool { return m.samples().Sum("controller_leader", "lock", namespace+"/"+name) == 1 })
	if n := m.samples().Sum("controller_leader_transitions_total", "event", "acquired"); n != 1 {
		t.Errorf("the lock was acquired %v times, want 1", n)
	}

	good := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "good", Annotations: map[string]string{owner: "us"},
	}}
	if err := m.GetClient().Create(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	m.eventually("the controller has set the label", func() bool {
		var got corev1.ConfigMap
		return m.GetClient().Get(t.Context(), client.ObjectKeyFromObject(good), &got) == nil && got.Labels[owner] == "us"
	})
	m.eventually("the reconcile and its patch are counted", func() bool {
		return m.samples().Sum("controller_reconcile_total", "result", "success") >= 1 &&
			m.samples().Sum("controller_item_retries_count", "controller", name) >= 1 &&
			m.samples().Sum("k8s_client_requests_total", "verb", "patch", "resource", "configmaps", "code", "200") == 1
	})
	if n := m.samples().Sum("controller_max_workers", "controller", name); n != workers {
		t.Errorf("%v workers, want %d", n, workers)
	}

	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "bad", Annotations: map[string]string{owner: "no label!"}, // rejected by the API server
	}}
	if err := m.GetClient().Create(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	m.eventually("failures are retried with backoff", func() bool {
		return m.samples().Sum("controller_reconcile_total", "result", "error") >= 3 &&
			m.samples().Sum("controller_backoff_seconds_count", "controller", name) >= 3 &&
			m.samples().Sum("k8s_client_requests_total", "verb", "patch", "code", "422") >= 3
	})
	if err := m.GetClient().Delete(t.Context(), bad); err != nil {
		t.Fatal(err)
	}

	theirs := metricstest.Gather(t, metrics.Registry)
	for _, metric := range []string{"workqueue_retries_total", "controller_runtime_reconcile_total"} {
		if n := theirs.Sum(metric, "controller", name); n < 3 {
			t.Errorf("controller-runtime's own %s is %v", metric, n)
		}
	}
	m.stop()
	if n := m.samples().Sum("controller_leader_transitions_total", "event", "released"); n != 1 {
		t.Errorf("the lock was released %v times, want 1", n)
	}
}
