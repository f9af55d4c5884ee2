package ring

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func certain(r *Ring) *Cursor {
	c := r.NewCursor()
	c.Registered()
	return c
}

func found(at int64) Found { return Found{At: at, Match: Exact} }

func TestCursorPairsEventsInOrder(t *testing.T) {
	r := New(8)
	c := certain(r)
	for i, rv := range []uint64{10, 11, 15} {
		r.Push(rv, int64(100+i))
	}
	if n, oldest := c.Backlog(); n != 3 || oldest != 100 {
		t.Fatalf("Backlog() = %d, %d; want 3, 100", n, oldest)
	}
	if f := c.Find(10); f != found(100) {
		t.Fatalf("Find(10) = %+v", f)
	}
	if n, _ := c.Backlog(); n != 3 || !c.Busy() {
		t.Fatalf("an event counts until it is done; Backlog() = %d", n)
	}
	c.Done()
	if f := c.Find(5); f != (Found{}) || c.Busy() {
		t.Fatalf("a resync of an old object was paired: %+v", f)
	}
	// 11 never reached the handler.
	if f := c.Find(15); f != found(102) {
		t.Fatalf("Find(15) = %+v", f)
	}
	c.Done()
	if n, _ := c.Backlog(); n != 0 {
		t.Fatalf("Backlog() = %d after the last event", n)
	}
}

func TestLateCursorStartsBehindWhatWasPushed(t *testing.T) {
	r := New(8)
	r.Push(1, 1)
	c := certain(r)
	if f := c.Find(1); f.Match != None {
		t.Fatalf("Find(1) = %+v", f)
	}
	r.Push(2, 2)
	if f := c.Find(2); f != found(2) {
		t.Fatalf("Find(2) = %+v", f)
	}
}

func TestEventsDuringARegistrationAreFoundButNotWaitedFor(t *testing.T) {
	r := New(8)
	c := r.NewCursor()
	r.Push(1, 1) // the handler gets the object as part of the store, not as an event
	r.Push(2, 2)
	if n, _ := c.Backlog(); n != 0 {
		t.Fatalf("Backlog() = %d before the registration", n)
	}
	c.Registered()
	r.Push(3, 3)
	if n, oldest := c.Backlog(); n != 1 || oldest != 3 {
		t.Fatalf("Backlog() = %d, %d; want 1, 3", n, oldest)
	}
	if f := c.Find(2); f != found(2) {
		t.Fatalf("Find(2) = %+v", f)
	}
}

func TestOverrunGivesALowerBoundAndCountsEachLossOnce(t *testing.T) {
	r := New(4) // remembers 3
	c := certain(r)
	for rv := uint64(1); rv <= 10; rv++ {
		r.Push(rv, int64(rv))
	}
	if n, oldest := c.Backlog(); n != 10 || oldest != 8 {
		t.Fatalf("Backlog() = %d, %d; want 10, 8", n, oldest)
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

func TestDroppedEventsAreNotPending(t *testing.T) {
	r := New(8)
	c := certain(r)
	r.Push(1, 0)
	r.Push(2, 20)
	if !r.Drop(1) {
		t.Error("the event was not found")
	}
	if r.Drop(1) || r.Drop(7) {
		t.Error("an event was dropped twice, or an unknown one")
	}
	if n, oldest := c.Backlog(); n != 1 || oldest != 20 {
		t.Fatalf("Backlog() = %d, %d; want 1, 20", n, oldest)
	}
	r.Unpush()
	if n, _ := c.Backlog(); n != 0 {
		t.Fatalf("Backlog() = %d; want 0", n)
	}
}

func TestRestartAllowsSmallerResourceVersions(t *testing.T) {
	r := New(8)
	c := certain(r)
	r.Push(1000, 1)
	r.Restart()
	r.Push(7, 2)
	if f := c.Find(7); f != found(2) {
		t.Fatalf("Find(7) = %+v", f)
	}
}

func TestPushAndFindDoNotAllocate(t *testing.T) {
	r := New(1024)
	c := certain(r)
	var rv uint64
	if n := testing.AllocsPerRun(1000, func() {
		rv++
		r.Push(rv, int64(rv))
		if c.Find(rv).Match != Exact {
			t.Fatal("not found")
		}
		c.Done()
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// Under concurrent pushes a cursor never pairs an event with the time of another one.
func TestConcurrentUse(t *testing.T) {
	const events = 200_000
	r := New(64)
	queue := make(chan uint64, 256)
	var wg sync.WaitGroup
	cursor := certain(r)
	wg.Go(func() {
		defer close(queue)
		for rv := uint64(1); rv <= events; rv++ {
			r.Push(rv, int64(rv))
			queue <- rv
		}
	})
	wg.Go(func() {
		for range 1000 {
			if n, oldest := cursor.Backlog(); oldest < 0 || n > events {
				t.Errorf("Backlog() = %d, %d", n, oldest)
				return
			}
		}
	})
	var exact, overrun, lost uint64
	for rv := range queue {
		f := cursor.Find(rv)
		lost += f.Lost
		switch f.Match {
		case Exact:
			if f.At != int64(rv) {
				t.Fatalf("event %d was paired with the time of %d", rv, f.At)
			}
			exact++
			cursor.Done()
		case Overrun:
			if f.At <= int64(rv) {
				t.Fatalf("event %d has the lower bound %d", rv, f.At)
			}
			overrun++
		case None:
			t.Fatalf("event %d was not found", rv)
		}
	}
	wg.Wait()
	if lost < overrun || exact+overrun != events {
		t.Fatalf("exact %d, overrun %d, lost %d", exact, overrun, lost)
	}
}

// The ring agrees with a model that remembers everything.
func FuzzRing(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 1, 2, 0, 3, 1})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := New(16)
		c := certain(r)
		type event struct {
			rv uint64
			at int64
		}
		var rv uint64
		var queue []event // what the handler has not seen
		var pushed int
		for i, op := range ops {
			switch op % 4 {
			case 0, 1:
				rv += 1 + rnd.Uint64N(3)
				r.Push(rv, int64(i))
				queue = append(queue, event{rv, int64(i)})
				pushed++
			case 2: // an event never arrives at the handler
				if len(queue) > 0 {
					queue = queue[1:]
				}
			case 3:
				if len(queue) == 0 {
					continue
				}
				e := queue[0]
				queue = queue[1:]
				switch got := c.Find(e.rv); {
				case got.Match == Exact && got.At != e.at:
					t.Fatalf("event %d of time %d was paired with %d", e.rv, e.at, got.At)
				case got.Match == Overrun && got.At < e.at:
					t.Fatalf("event %d of time %d has the bound %d", e.rv, e.at, got.At)
				case got.Match == None:
					t.Fatalf("event %d was not found", e.rv)
				case got.Match == Exact:
					c.Done()
				}
				if n, _ := c.Backlog(); n > uint64(pushed) || len(queue) < 15 && n < uint64(len(queue)) {
					t.Fatalf("Backlog() = %d with %d events in the queue", n, len(queue))
				}
			}
		}
	})
}

func BenchmarkPushFindDone(b *testing.B) {
	r := New(1024)
	c := certain(r)
	var rv uint64
	for b.Loop() {
		rv++
		r.Push(rv, int64(rv))
		c.Find(rv)
		c.Done()
	}
}
