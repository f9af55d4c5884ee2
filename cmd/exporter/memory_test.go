package main

import (
	"runtime/debug"
	"testing"
)

func TestCollectEarlier(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for _, c := range []struct {
		environment string
		want        int
	}{{"", gcPercent}, {"200", 100}} { // the runtime reads GOGC only when the program starts
		t.Setenv("GOGC", c.environment)
		setGCPercent()
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("with GOGC=%q it is %d, want %d", c.environment, got, c.want)
		}
	}
}
