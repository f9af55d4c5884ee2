// Package port allocates loopback ports for servers that may be stopped and must get the same port back.
//
// They are below the range of ephemeral ports for outgoing connections (32768 and up on Linux, 49152
// elsewhere): a port in that range could be taken when its server listens again. Until the process ends, a UDP socket on the
// same number keeps other processes that use this package, such as other test suites, from taking it.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const (
	first = 12000
	last  = 32000
)

var (
	mu    sync.Mutex
	given = map[int]net.PacketConn{}
)

// Free returns a free loopback port that neither this process nor another running one was given. It panics if it finds none.
func Free() int {
	for range 200 {
		if p := first + rand.IntN(last-first); take(p) {
			return p
		}
	}
	panic(fmt.Sprintf("no free port on 127.0.0.1 between %d and %d", first, last))
}

// Prefer returns the port if it is free, and another one, like Free, otherwise.
func Prefer(p int) int {
	if take(p) {
		return p
	}
	return Free()
}

// Address returns host:port of a loopback port.
func Address(p int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p)) }

func take(p int) bool {
	mu.Lock()
	defer mu.Unlock()
	if given[p] != nil {
		return false
	}
	mark, err := net.ListenPacket("udp", Address(p))
	if err != nil {
		return false
	}
	l, err := net.Listen("tcp", Address(p))
	if err != nil || l.Close() != nil {
		_ = mark.Close()
		return false
	}
	given[p] = mark
	return true
}
