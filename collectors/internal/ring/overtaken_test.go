package ring

import "testing"

func TestOverrunGivesALowerBoundAndCountsEachLossOnce(t *testing.T) {
	r := New(4) // remembers 3
	c := certain(r)
	for rv := uint64(1); rv <= 10; rv++ {
		r.Push(rv, int64(rv))
	}
	if n, oldest := c.Backlog(); n != 10 || oldest != 1 {
		t.Fatalf("Backlog() = %d, %d; want 10, 1", n, oldest)
	}
	var lost uint64
	for rv := uint64(1); rv <= 7; rv++ {
		f := c.Find(rv)
		lost += f.Lost
		if f.Match != Overrun || f.At != 8 {
			t.Fatalf("Find(%d) = %+v; want an overrun at 8", rv, f)
		}
	}
	if lost != 7 {
		t.Errorf("lost %d events, want 7", lost)
	}
	for rv := uint64(8); rv <= 10; rv++ {
		if f := c.Find(rv); f != found(int64(rv)) {
			t.Fatalf("Find(%d) = %+v", rv, f)
		}
		c.Done()
	}
	if f := c.Find(9); f.Match != None {
		t.Fatalf("a resync after the overrun was paired: %+v", f)
	}
}

// The backlog of a handler that blocks is as old as the event that blocks it, however many events follow, and whether the handler
// kept up, was behind, or had been overtaken before.
func TestBlockedHandlerOnABusyStream(t *testing.T) {
	for _, ahead := range []uint64{0, 1, 5, 6, 7, 8, 20} { // events that the handler is behind when it blocks; the ring remembers 7
		for at := uint64(1); at < 40; at++ {
			r := New(8)
			c := certain(r)
			var rv uint64
			push := func(n uint64) {
				for range n {
					rv++
					r.Push(rv, int64(rv))
				}
			}
			push(ahead)
			for n := uint64(1); n < at; n++ {
				push(1)
				if c.Find(n).Match == Exact {
					c.Done()
				}
			}
			push(1)
			f := c.Find(at)
			for range 30 {
				push(1)
				n, oldest := c.Backlog()
				if ahead < 7 && (oldest != int64(at) || n != rv-at+1) {
					t.Fatalf("%d behind, blocked at %d: Backlog() = %d, %d after %d events", ahead, at, n, oldest, rv)
				}
				if ahead >= 7 && oldest > f.At { // overwritten before the handler got it: what waits behind it is known
					t.Fatalf("%d behind, blocked at %d, %+v: Backlog() = %d, %d after %d events", ahead, at, f, n, oldest, rv)
				}
			}
		}
	}
}

// Events that are all dropped are not pending, however many there are.
func TestManyDroppedEvents(t *testing.T) {
	r := New(8)
	c := certain(r)
	for rv := uint64(1); rv < 100; rv++ {
		r.Push(rv, int64(rv))
		r.Drop(rv)
		if n, oldest := c.Backlog(); n != 0 || oldest != 0 {
			t.Fatalf("Backlog() = %d, %d after %d events", n, oldest, rv)
		}
	}
	r.Push(100, 100)
	if n, oldest := c.Backlog(); n != 1 || oldest != 100 {
		t.Errorf("Backlog() = %d, %d; want 1, 100", n, oldest)
	}
}

// Events that are undone bring a cursor nearer to the event that is overwritten next.
func TestBlockedHandlerAfterUnpush(t *testing.T) {
	for undone := range 5 {
		for behind := range uint64(7) {
			r := New(8)
			c := certain(r)
			var rv uint64
			push := func() { rv++; r.Push(rv, int64(rv)) }
			for range 20 {
				push()
			}
			for range undone {
				r.Unpush()
				rv--
			}
			blocked := rv - behind
			for n := uint64(1); n < blocked; n++ {
				if c.Find(n).Match == Exact {
					c.Done()
				}
			}
			exact := c.Find(blocked).Match == Exact
			for range 10 {
				push()
			}
			if _, oldest := c.Backlog(); exact && oldest != int64(blocked) {
				t.Errorf("%d undone, blocked at %d of 20: the oldest was received at %d", undone, blocked, oldest)
			}
		}
	}
}
