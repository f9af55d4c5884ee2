package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	o, err := parse([]string{"--fault=half-open", "--for=90s"})
	if err != nil || o.fault != "half-open" || o.faultFor != 90*time.Second {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse([]string{"--fault=gremlins"}); err == nil || !strings.Contains(err.Error(), "gremlins") || !strings.Contains(err.Error(), "apiserver-kill") {
		t.Errorf("an unknown fault should be rejected before anything starts, with all names: %v", err)
	}
	if _, err := parse([]string{"--no-such-flag"}); err == nil {
		t.Error("an unknown flag should be an error")
	}
}

// TestInterruptedStart verifies that a demo that is interrupted while it starts exits with the reason.
func TestInterruptedStart(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	err := run(ctx, options{writes: 1, objects: 1}, strings.NewReader(""), &out, &out)
	if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "OPEN") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The lite demo starts without the controllers, and offers only faults that it can inject.
func TestLite(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	for _, args := range [][]string{{"--lite", "--churn"}, {"--lite", "--fault=leader-kill"}} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), "--lite") {
			t.Errorf("%v: error %v", args, err)
		}
	}
	var out, log strings.Builder
	if err := run(t.Context(), options{lite: true, writes: 1, objects: 1, runFor: time.Nanosecond}, strings.NewReader(""), &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for text, want := range map[string]bool{
		"  exporter ": true, "  Prometheus ": true, "  cut ": true, "ervers are built": true,
		"  Alertmanager ": false, "  operator tiers": false, "  leader-kill ": false, "controller_leader": false,
	} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("%q is in the output: %t, want %t\n%s", text, !want, want, out.String())
		}
	}
}

func TestCommandsAreReadLineByLine(t *testing.T) {
	ch := lines(strings.NewReader(" cut \n\nrestore\n"))
	var got []string
	for line := range ch {
		got = append(got, line)
	}
	if strings.Join(got, "|") != "cut||restore" {
		t.Errorf("got %q", got)
	}
}
