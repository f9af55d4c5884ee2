package faults

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// P7: a consumer modifies an object of the cache in place. Updates by the API server are not mutations.
func TestMutatedObject(t *testing.T) {
	fault(t)
	const often = 20 * time.Millisecond
	r := newRig(t, options{checks: collectors.Checks{Mutations: often}})
	r.create("mutated", "updated")
	r.startBusy()
	object := r.stored("mutated")
	before := r.settle()
	r.update("updated", "new")
	before = r.expect(before, changes{"watch_events_total{type=modified}": 1}) // after some checks
	mutate(object)                                                             //nolint:informerlint // the fault
	r.expect(before, changes{"mutations_total": 1})
}

// mutate is the bug. The race detector would report it as well, because the sampler reads the object concurrently, and is
// therefore disabled here.
//
//go:norace
func mutate(object *corev1.ConfigMap) { object.Generation++ }
