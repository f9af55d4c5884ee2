package chain

import (
	"context"
	"errors"
	"testing"
)

// A fault that is half made would otherwise stay: nobody is given what ends it.
func TestInjectEndsWhatItHasBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	half, whole, ended := errors.New("half"), errors.New("whole"), 0
	f := Fault{Name: "half", inject: func(context.Context, *Chain) (func(context.Context) error, error) {
		cancel() // as it may be the reason of the failure
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
