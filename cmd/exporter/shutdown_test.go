package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestShutdownRunsEveryStepInOrder(t *testing.T) {
	var done []string
	ok := func(name string) step {
		return step{name, time.Second, func(context.Context) error {
			done = append(done, name)
			return nil
		}}
	}
	failed := errors.New("broken")
	bad := step{"second", time.Second, func(context.Context) error {
		done = append(done, "second")
		return failed
	}}
	var log output
	err := shutdown(slog.New(slog.NewTextHandler(&log, nil)), ok("first"), bad, ok("third"))
	if want := []string{"first", "second", "third"}; !slices.Equal(done, want) {
		t.Errorf("steps %v, want %v", done, want)
	}
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), "shutdown: second") {
		t.Errorf("error is %v, want that of the second step", err)
	}
	text := log.String()
	for _, part := range []string{"step=first duration=", "step=second duration=", "err=broken", "step=third duration=", "failed_steps=1"} {
		at := strings.Index(text, part)
		if at < 0 {
			t.Fatalf("log does not have %q, or not after what precedes it:\n%s", part, log.String())
		}
		text = text[at:]
	}
}

func TestShutdownLimitsEachStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := step{"hang", 5 * time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		began := time.Now()
		err := shutdown(slog.New(slog.DiscardHandler), hang, hang)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("two steps of 5 s took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want a deadline", err)
		}
	})
}
