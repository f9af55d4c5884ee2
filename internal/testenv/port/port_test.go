package port_test

import (
	"net"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

func TestPortsAreNotGivenTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		p := port.Free()
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
	free := port.Free()
	l, err := net.Listen("tcp", port.Address(free+1))
	if err != nil {
		t.Skip("the next port is not free:", err)
	}
	if got := port.Prefer(free + 1); got == free+1 {
		t.Errorf("got %d for a port on which something listens", got)
	}
	l.Close()
	if got := port.Prefer(free + 1); got != free+1 {
		t.Errorf("got %d for the free port %d", got, free+1)
	}
	if got := port.Prefer(free + 1); got == free+1 {
		t.Errorf("got %d for a port that was given out", got)
	}
}

// A UDP socket marks a port for other processes.
func TestPortOfAnotherProcess(t *testing.T) {
	free := port.Free()
	if mark, err := net.ListenPacket("udp", port.Address(free)); err == nil {
		mark.Close()
		t.Error("the port is not marked")
	}
	theirs, err := net.ListenPacket("udp", port.Address(free+1))
	if err != nil {
		t.Skip("the next port is not free:", err)
	}
	defer theirs.Close()
	if got := port.Prefer(free + 1); got == free+1 {
		t.Errorf("got %d, which another process has", got)
	}
}
