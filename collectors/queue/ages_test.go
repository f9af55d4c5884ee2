package queue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestAgeRing compares the ring with a slice, at all lengths that make it grow, wrap around and shrink.
func TestAgeRing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var (
		ring  ageRing[int]
		plain []slot[int]
		next  int
	)
	for _, goal := range []int{0, 1, 15, 16, 17, 3, 1000, 1025, 100_000, 5000, 0, 1, 5000, 40, 2048, 2} {
		for len(plain) != goal || rnd.IntN(3) > 0 {
			if len(plain) < goal || len(plain) == 0 || len(plain) == goal && rnd.IntN(2) == 0 {
				next++
				ring.push(next, int64(10*next))
				plain = append(plain, slot[int]{next, int64(10 * next)})
				if n := len(ring.slots); n > keptSlots && n > 16*len(plain) { // only a push shrinks the ring
					t.Fatalf("%d slots for %d items", n, len(plain))
				}
			} else {
				if first := ring.first(); first != plain[0] {
					t.Fatalf("the first of %d is %v, want %v", len(plain), first, plain[0])
				}
				if item := ring.pop(); item != plain[0].item {
					t.Fatalf("of %d, pop returned %v, want %v", len(plain), item, plain[0])
				}
				plain = plain[1:]
			}
			want := int64(0)
			if len(plain) > 0 {
				want = plain[0].at
			}
			if ring.len() != len(plain) || ring.since() != want {
				t.Fatalf("%d items since %d, want %d since %d", ring.len(), ring.since(), len(plain), want)
			}
		}
	}
	if n := len(ring.slots); n > 4*keptSlots {
		t.Errorf("%d slots are kept for %d items", n, len(plain))
	}
}

// Popped items can be garbage-collected.
func TestAgeRingKeepsNothing(t *testing.T) {
	var ring ageRing[*[1024]byte]
	collected := make(chan struct{})
	item := new([1024]byte)
	runtime.AddCleanup(item, func(ch chan struct{}) { close(ch) }, collected)
	ring.push(item, 1)
	ring.pop()
	item = nil
	for done := false; !done; {
		runtime.GC()
		select {
		case <-collected:
			done = true
		default:
			runtime.Gosched()
		}
	}
	runtime.KeepAlive(&ring)
	_ = item
}

// TestAges compares ages with a map. Items are removed in any order, and one of them after all others.
func TestAges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	var a ages[string]
	known := map[string]int64{}
	a.add("stays", 1)
	known["stays"] = 1
	longest := 0
	for at := int64(2); at < 50_000; at++ {
		if at == 40_000 {
			a.remove("stays")
			delete(known, "stays")
		}
		item := fmt.Sprint(rnd.IntN(20))
		if _, ok := known[item]; ok && rnd.IntN(2) == 0 {
			delete(known, item)
			a.remove(item)
		} else {
			if !ok {
				known[item] = at
			}
			a.add(item, at)
		}
		oldest := int64(0)
		for _, since := range known {
			if oldest == 0 || since < oldest {
				oldest = since
			}
		}
		if a.since() != oldest || a.has(item) != slices.Contains(keys(known), item) {
			t.Fatalf("since %d, want %d; %q is known: %v", a.since(), oldest, item, a.has(item))
		}
		longest = max(longest, a.ring.len())
	}
	if longest > 100 {
		t.Errorf("%d entries for 21 items: removed items are kept", longest)
	}
}

func keys(m map[string]int64) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}
