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

// A ring is small while cursors keep up, and grows to its size for one that does not.
func TestGrowth(t *testing.T) {
	const size = 1024
	r := New(size)
	removed, quick, slow := certain(r), certain(r), certain(r)
	removed.Close()
	removed.Close()
	length := func() int { return len(r.buffer.Load().slots) }
	rv := uint64(0)
	push := func(events int) {
		for range events {
			rv++
			r.Push(rv, int64(rv))
			if f := quick.Find(rv); f != found(int64(rv)) {
				t.Fatalf("Find(%d) = %+v", rv, f)
			}
			quick.Done()
		}
	}
	keepUp := func() {
		slow.Find(rv)
		slow.Done()
	}
	for range 10 {
		push(initialSize - 2)
		keepUp()
	}
	if length() != initialSize {
		t.Fatalf("the buffer has %d slots, although all cursors keep up", length())
	}
	behind := rv
	push(size - 1)
	if length() != size {
		t.Fatalf("the buffer has %d slots for a backlog of %d", length(), size-1)
	}
	r.Drop(rv)
	if n, oldest := slow.Backlog(); n != size-2 || oldest != int64(behind+1) {
		t.Fatalf("Backlog() = %d, %d; want %d, %d", n, oldest, size-2, behind+1)
	}
	for next := behind + 1; next <= rv; next++ {
		if f := slow.Find(next); f != found(int64(next)) {
			t.Fatalf("Find(%d) = %+v", next, f)
		}
		slow.Done()
	}
	push(3 * size)
	if f := slow.Find(rv); length() != size || f.Lost != 2*size+1 || f.Match != Exact {
		t.Errorf("the buffer has %d slots, and Find returns %+v", length(), f)
	}
}

// While a ring grows, a cursor finds each event with its time.
func TestConcurrentGrowth(t *testing.T) {
	for range 40 {
		r := newRing(2, 4096)
		cursor, queue := certain(r), make(chan uint64, 2048)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(queue)
			for rv := uint64(1); rv <= 2000; rv++ {
				r.Push(rv, int64(rv))
				queue <- rv
			}
		})
		wg.Go(func() {
			for range 1000 {
				if n, oldest := cursor.Backlog(); n > 2000 || n > 0 && oldest <= 0 {
					t.Errorf("Backlog() = %d, %d", n, oldest)
				}
			}
		})
		for rv := range queue {
			if f := cursor.Find(rv); f != found(int64(rv)) {
				t.Fatalf("Find(%d) = %+v", rv, f)
			}
			cursor.Done()
		}
		wg.Wait()
	}
}

// A mark is not lost when the ring grows at the same time.
func TestConcurrentDrop(t *testing.T) {
	const events = 1000
	for range 100 {
		r := newRing(initialSize, 1024)
		cursor := certain(r)
		var wg sync.WaitGroup
		wg.Go(func() {
			for rv := uint64(1); rv <= events; rv++ {
				r.Push(rv, int64(rv))
			}
		})
		dropped := uint64(0)
		for head := uint64(0); head < events; {
			// Not the last event: copying those after it takes a while.
			if head = r.head.Load(); head > 50 && r.Drop(head-50) {
				dropped++
			}
		}
		wg.Wait()
		if n, _ := cursor.Backlog(); n != events-dropped {
			t.Fatalf("%d of %d events are pending, although %d were dropped", n, events, dropped)
		}
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

// The ring returns the same as a model that remembers everything.
func FuzzRing(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 1, 2, 0, 3, 1})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := newRing(4, 16)
		c := certain(r)
		type event struct {
			rv uint64
			at int64
		}
		var rv uint64
		var queue []event // events that the handler has not seen
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

// A version that no event has is not found: between two others, after a restart, and again after an overrun.
func TestVersionsWithoutAnEvent(t *testing.T) {
	none := func(t *testing.T, c *Cursor, rv uint64) {
		t.Helper()
		if f := c.Find(rv); f.Match != None || f.At != 0 {
			t.Errorf("Find(%d) = %+v, want none", rv, f)
		}
	}
	t.Run("between", func(t *testing.T) {
		r := New(8)
		c := certain(r)
		r.Push(10, 0)
		r.Push(20, 2)
		if n, oldest := c.Backlog(); n != 2 || oldest != 0 {
			t.Errorf("Backlog() = %d, %d; want 2, 0", n, oldest)
		}
		none(t, c, 9)
		if f := c.Find(10); f != found(0) {
			t.Errorf("Find(10) = %+v, received at 0", f)
		}
		c.Done()
		none(t, c, 15)
		none(t, c, 10)
		if n, oldest := c.Backlog(); n != 1 || oldest != 2 {
			t.Errorf("Backlog() = %d, %d; want 1, 2", n, oldest)
		}
	})
	t.Run("restart", func(t *testing.T) {
		r := New(4)
		c := certain(r)
		for rv := uint64(100); rv < 110; rv++ {
			r.Push(rv, 1)
		}
		if f := c.Find(103); f.Match != Overrun {
			t.Errorf("Find(103) = %+v, want an overrun", f)
		}
		r.Restart()
		r.Push(7, 2)
		none(t, c, 3)
	})
	t.Run("overrun", func(t *testing.T) {
		r := New(4)
		c := certain(r)
		for rv := uint64(1); rv <= 3; rv++ {
			r.Push(rv, 5)
		}
		if f := c.Find(2); f != found(5) {
			t.Errorf("Find(2) = %+v", f)
		}
		c.Done()
		for rv := uint64(4); rv <= 10; rv++ {
			r.Push(rv, 5)
		}
		if n, _ := c.Backlog(); n != 8 {
			t.Errorf("Backlog() = %d after two of ten, want 8", n)
		}
		if f := c.Find(4); f.Match != Overrun || f.At != 5 {
			t.Errorf("Find(4) = %+v, want an overrun", f)
		}
		none(t, c, 4) // a resync
		none(t, c, 3)
	})
}

// A closed cursor no longer counts, and the others still do: the Ring grows for the one that is behind.
func TestClosedCursors(t *testing.T) {
	r := newRing(4, 64)
	closed, behind, ahead := certain(r), certain(r), certain(r)
	closed.Close()
	closed.Close()
	for rv := uint64(1); rv <= 10; rv++ {
		r.Push(rv, int64(rv))
		if f := ahead.Find(rv); f != found(int64(rv)) {
			t.Errorf("Find(%d) = %+v", rv, f)
		}
		ahead.Done()
	}
	if f := behind.Find(1); f != found(1) {
		t.Errorf("Find(1) = %+v, want the first event", f)
	}
}

// Informers that receive no events take no memory for them.
func TestNoBufferBeforeTheFirstEvent(t *testing.T) {
	idle, busy := New(1024), New(1024)
	cursor := certain(idle)
	busy.Push(7, 1)
	if idle.buffer.Load() != empty || len(busy.buffer.Load().slots) != initialSize {
		t.Errorf("%d slots without events, %d with one; want the shared buffer, and %d", len(idle.buffer.Load().slots), len(busy.buffer.Load().slots), initialSize)
	}
	if f := cursor.Find(7); f != (Found{}) {
		t.Errorf("Find(7) = %+v in a ring without events", f)
	}
	if _, ok := idle.After(0); ok || idle.Drop(7) {
		t.Error("a ring without events has an event of another ring")
	}
	if at, ok := busy.After(0); at != 1 || !ok {
		t.Errorf("After(0) = %d, %t; want 1", at, ok)
	}
}

// Drop searches the last events, as many as documented.
func TestDropSearchesTheLastEvents(t *testing.T) {
	r := New(1024)
	for rv := uint64(1); rv <= 3*dropSearch; rv++ {
		r.Push(rv, int64(rv))
	}
	if oldest := uint64(2*dropSearch + 1); !r.Drop(oldest) || r.Drop(oldest-1) {
		t.Errorf("Drop does not search exactly the last %d events", dropSearch)
	}
}

func TestLastIsTheReceiptOfTheLastEvent(t *testing.T) {
	r := New(4)
	if at := r.Last(); at != 0 {
		t.Errorf("%d before the first event", at)
	}
	for v := uint64(1); v < 10; v++ {
		r.Push(v, int64(100+v))
	}
	r.Drop(9)
	if at := r.Last(); at != 109 {
		t.Errorf("%d after the last event was dropped, want 109", at)
	}
	r.Unpush()
	if at := r.Last(); at != 108 {
		t.Errorf("%d after the last event was removed, want 108", at)
	}
}
