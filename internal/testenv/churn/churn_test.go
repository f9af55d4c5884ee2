package churn

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// TestScheduleFitsItsPeriod verifies that the operations of a lane are in order and within the period, and that repeated operations
// are repeated until its end.
func TestScheduleFitsItsPeriod(t *testing.T) {
	manager := &stack.ControllerManager{Server: &stack.Server{}}
	c := &Churn{chain: &chain.Chain{Exporter: &stack.Server{}, ControlPlane: &stack.ControlPlane{ControllerManager: manager}}}
	count := map[string]int{}
	for i, lane := range c.lanes() {
		last := time.Duration(0)
		for _, o := range lane {
			if o.at <= last || o.at >= Period {
				t.Errorf("lane %d: %s at %v, after %v", i, o.name, o.at, last)
			}
			last = o.at
			count[o.name]++
		}
	}
	for name, want := range map[string]int{"deploy": 23, "node drain": 6, "CustomResourceDefinition created, upgraded, deleted": 4} {
		if count[name] != want {
			t.Errorf("%d times %s in eight hours, want %d", count[name], name, want)
		}
	}
}
