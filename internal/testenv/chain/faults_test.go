package chain

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// TestAlertsOfFaultsExist verifies the alerts that make demo prints for faults.
func TestAlertsOfFaultsExist(t *testing.T) {
	for _, f := range Faults() {
		if _, ok := alerts.ByName(f.Alert); !ok && f.Alert != "" {
			t.Errorf("%s: no alert %s", f.Name, f.Alert)
		}
	}
}

// A failed injection is undone, and Inject returns no function to end it.
func TestInjectEndsWhatItHasBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	half, whole, ended := errors.New("half"), errors.New("whole"), 0
	f := Fault{Name: "half", inject: func(context.Context, *Chain) (func(context.Context) error, error) {
		cancel() // cancellation may be the cause of the failure
		return func(ctx context.Context) error {
			ended++
			return errors.Join(whole, ctx.Err())
		}, half
	}}
	restore, err := f.Inject(ctx, nil)
	if restore != nil || ended != 1 || !errors.Is(err, half) || !errors.Is(err, whole) || errors.Is(err, context.Canceled) {
		t.Errorf("ended %d times, %v", ended, err)
	}
}

func TestUnknownFault(t *testing.T) {
	_, err := FaultByName("gremlins")
	if err == nil || !strings.Contains(err.Error(), "half-open") || !strings.Contains(err.Error(), "apiserver-kill") {
		t.Errorf("the error should list the faults: %v", err)
	}
	for _, f := range Faults() {
		if got, err := FaultByName(f.Name); err != nil || got.Does != f.Does || f.Does == "" || f.Shows == "" {
			t.Errorf("fault %q: %+v, %v", f.Name, got, err)
		}
	}
}
