package objects

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Events of objects that are not reported, and renewals of Leases, do not allocate.
func TestEventsAllocateNothing(t *testing.T) {
	f := newFixture(t, Options{})
	pods, deployments, leases := f.NewHandler("pods"), f.deployments(), f.NewLeaseHandler(nil)
	pod, deployment := object("ns", "pod"), observed("d", 3, 3)
	pods.OnAdd(object("ns", "stuck", "x/1"), true)
	first, second := held("ns", "lock", "a", noon), held("ns", "lock", "a", noon.Add(time.Second))
	node, renewed := held("kube-node-lease", "n", "n", noon), held("kube-node-lease", "n", "n", noon.Add(time.Second))
	leases.OnAdd(first, true)
	leases.OnAdd(node, true)
	if allocations := testing.AllocsPerRun(100, func() {
		pods.OnAdd(pod, false)
		pods.OnUpdate(pod, pod)
		pods.OnDelete(pod)
		deployments.OnUpdate(deployment, deployment)
		leases.OnUpdate(first, second)
		leases.OnUpdate(second, first)
		leases.OnUpdate(node, renewed)
		leases.OnUpdate(renewed, node)
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// BenchmarkEvents measures events with 100,000 objects, a thousand of them terminating.
func BenchmarkEvents(b *testing.B) {
	f := newFixture(b, Options{})
	pods := f.NewHandler("pods")
	all := make([]*metav1.PartialObjectMetadata, 100_000)
	for i := range all {
		all[i] = object("ns", fmt.Sprint("pod-", i))
		if i%100 == 0 {
			all[i] = object("ns", fmt.Sprint("pod-", i), "x/1")
		}
		pods.OnAdd(all[i], true)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		pods.OnUpdate(nil, all[i%len(all)])
	}
}

// BenchmarkRenewals measures renewals of a Lease, with 10,000 Leases of nodes.
func BenchmarkRenewals(b *testing.B) {
	f := newFixture(b, Options{})
	leases := f.NewLeaseHandler(nil)
	name := func(i int) string { return fmt.Sprint("node-", i) }
	for i := range 10_000 {
		leases.OnAdd(held("kube-node-lease", name(i), name(i), noon), true)
	}
	renewed := held("kube-node-lease", name(5000), name(5000), noon)
	b.ReportAllocs()
	for b.Loop() {
		f.pass(time.Millisecond)
		renewed.Spec.RenewTime.Time = f.clock.Now()
		leases.OnUpdate(nil, renewed)
	}
}

// BenchmarkScrape measures scrapes with 100,000 objects, of which a thousand are terminating and a thousand lag, and with the
// Leases of 10,000 nodes.
func BenchmarkScrape(b *testing.B) {
	f := newFixture(b, Options{})
	pods, deployments, leases := f.NewHandler("pods"), f.deployments(), f.NewLeaseHandler(nil)
	for i := range 100_000 {
		if i%100 == 0 {
			pods.OnAdd(object("ns", fmt.Sprint(i), "x/1"), true)
			deployments.OnAdd(observed(fmt.Sprint(i), 2, 1), true)
		} else {
			pods.OnAdd(object("ns", fmt.Sprint(i)), true)
		}
	}
	for i := range 10_000 {
		leases.OnAdd(held("kube-node-lease", fmt.Sprint(i), "node", noon), true)
	}
	b.ReportAllocs()
	for b.Loop() {
		ch := make(chan prometheus.Metric, 100)
		f.Collect(ch)
	}
}
