package series_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// owner has a pointer, so that it is not allocated together with others.
type owner struct{ itself *owner }

func newOwner() *owner {
	o := new(owner)
	o.itself = o
	return o
}

func TestSetEndsOnce(t *testing.T) {
	var set series.Set[owner]
	a, b, ends, others := newOwner(), newOwner(), 0, 0
	set.Add(a, func() { ends++ })
	set.Add(b, func() { others++ })
	set.End(newOwner()) // not a member
	if ends != 0 || !slices.Equal(set.Owners(), []*owner{a, b}) {
		t.Errorf("%d ends, owners %v", ends, set.Owners())
	}
	set.End(a)
	set.End(a)
	if ends != 1 || others != 0 || !slices.Equal(set.Owners(), []*owner{b}) {
		t.Errorf("%d ends, want 1; %d of the other owner, want 0; owners %v", ends, others, set.Owners())
	}
	runtime.KeepAlive(b)
}

// An owner that is unreachable ends, and not before.
func TestSetWithUnreachableOwners(t *testing.T) {
	var set series.Set[owner]
	kept := newOwner()
	var early atomic.Bool
	set.Add(kept, func() { early.Store(true) })
	ended := make(chan struct{}, 100)
	for range cap(ended) {
		set.Add(newOwner(), func() { ended <- struct{}{} })
	}
	deadline := time.After(time.Minute)
	for n := 0; n < cap(ended); {
		runtime.GC()
		select {
		case <-ended:
			n++
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("%d of %d unreachable owners have ended", n, cap(ended))
		}
	}
	if owners := set.Owners(); early.Load() || !slices.Equal(owners, []*owner{kept}) {
		t.Errorf("ended while reachable: %v; owners %v, want one", early.Load(), owners)
	}
	runtime.KeepAlive(kept)
}
