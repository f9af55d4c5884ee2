package schedule_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var calls []time.Duration
		begin := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			schedule.Every(ctx, time.Hour, func() time.Duration {
				calls = append(calls, time.Since(begin))
				if len(calls) == 2 {
					return time.Minute
				}
				return 0
			})
		}()
		time.Sleep(3 * time.Hour)
		cancel()
		<-done
		if len(calls) < 4 {
			t.Fatalf("%d calls in 3 hours", len(calls))
		}
		if calls[0] > 30*time.Second {
			t.Errorf("the first call came after %v", calls[0])
		}
		for n, want := range []time.Duration{time.Hour, time.Minute, time.Hour} {
			if got := calls[n+1] - calls[n]; got < want*9/10 || got > want*11/10 {
				t.Errorf("%v between call %d and the next, want %v with jitter", got, n, want)
			}
		}
	})
}

func TestSlots(t *testing.T) {
	slots := make(schedule.Slots, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	slots.Do(ctx, func() {
		cancel()
		slots.Do(ctx, func() { t.Error("two at a time, although there is one slot") })
		ran = true
	})
	if !ran {
		t.Error("a free slot was not used")
	}
	slots.Do(t.Context(), func() { ran = false })
	if ran {
		t.Error("the slot did not become free")
	}
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := schedule.NewGate()
		open, ok := g.Wait(t.Context())
		if !ok || open.Err() != nil || !g.IsOpen() {
			t.Fatal("a new gate is closed")
		}
		g.Close()
		if open.Err() == nil || g.IsOpen() {
			t.Error("a closed gate lets work continue")
		}

		ended, end := context.WithCancel(t.Context())
		waited := make(chan bool)
		go func() {
			_, ok := g.Wait(ended)
			waited <- ok
		}()
		synctest.Wait()
		end()
		if <-waited {
			t.Error("waited for longer than the context")
		}
		g.Open(ended)
		if g.IsOpen() {
			t.Error("opened with a context that has already ended")
		}

		term, lose := context.WithCancel(t.Context())
		passed := make(chan context.Context)
		go func() {
			open, _ := g.Wait(t.Context())
			passed <- open
		}()
		synctest.Wait()
		g.Open(term)
		open = <-passed
		if open.Err() != nil {
			t.Error("closed right after it was opened")
		}
		lose()
		synctest.Wait()
		if open.Err() == nil || g.IsOpen() {
			t.Error("still open after the end of the context with which it was opened")
		}
	})
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errFailed := errors.New("failed")
		if n, err := schedule.Call(t.Context(), func() (int, error) { return 7, errFailed }, nil); n != 7 || !errors.Is(err, errFailed) {
			t.Errorf("returned %d, %v", n, err)
		}
		if _, err := schedule.Call(t.Context(), func() (int, error) { panic("broken") }, nil); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("a panic became %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		discarded := make(chan int, 1)
		_, err := schedule.Call(ctx, func() (int, error) { time.Sleep(time.Minute); return 8, nil }, func(n int) { discarded <- n })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that ignores its context returned %v", err)
		}
		if n := <-discarded; n != 8 {
			t.Errorf("discarded %d", n)
		}
	})
}

// Work that hangs loses its slot after the limit, and the slot is released once.
func TestSlotsOfHangingWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := make(schedule.Slots, 1)
		hang := make(chan struct{})
		var hanging sync.WaitGroup
		hanging.Go(func() { slots.DoWithin(t.Context(), time.Minute, func() { <-hang }) })
		synctest.Wait()
		began := time.Now()
		slots.DoWithin(t.Context(), time.Minute, func() {
			if waited := time.Since(began); waited != time.Minute {
				t.Errorf("waited for %v, want a minute", waited)
			}
			close(hang)
			hanging.Wait()
			if len(slots) != 1 {
				t.Errorf("%d slots are held, want that of the second", len(slots))
			}
		})
		slots.DoWithin(t.Context(), time.Minute, func() {})
		if len(slots) != 0 {
			t.Errorf("%d slots are held", len(slots))
		}
		ended, end := context.WithCancel(t.Context())
		end()
		slots <- struct{}{}
		slots.DoWithin(ended, time.Minute, func() { t.Error("called without a slot") })
	})
}
