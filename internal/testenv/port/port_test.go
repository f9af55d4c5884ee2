package port_test

import (
	"net"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

func TestPortsAreNotGivenTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		p, err := port.Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[p] {
			t.Fatalf("%d was given out before", p)
		}
		seen[p] = true
		if p >= 32768 {
			t.Fatalf("%d is in the range of outgoing connections", p)
		}
	}
}

func TestPreferredPortThatIsTaken(t *testing.T) {
	free, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", port.Address(free+1))
	if err != nil {
		t.Skip("the next port is not free:", err)
	}
	if got, err := port.Prefer(free + 1); err != nil || got == free+1 {
		t.Errorf("got %d, %v for a port on which something listens", got, err)
	}
	l.Close()
	if got, err := port.Prefer(free + 1); err != nil || got != free+1 {
		t.Errorf("got %d, %v for the free port %d", got, err, free+1)
	}
	if got, err := port.Prefer(free + 1); err != nil || got == free+1 {
		t.Errorf("got %d, %v for a port that was given out", got, err)
	}
}
