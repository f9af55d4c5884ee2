// Package port hands out loopback ports for servers that may be stopped and must get the same port back.
//
// They lie below the range from which kernels take the local ports of outgoing connections (32768 and up on Linux, 49152
// elsewhere): a port in that range could be gone when its server wants to listen again.
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
	given = map[int]bool{}
)

// Free returns a loopback port on which nothing listens and which it has not given out before in this process.
func Free() (int, error) {
	mu.Lock()
	defer mu.Unlock()
	for range 200 {
		if p := first + rand.IntN(last-first); take(p) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 between %d and %d", first, last)
}

// Prefer returns the port if it is free, else another one as Free does.
func Prefer(p int) (int, error) {
	mu.Lock()
	taken := take(p)
	mu.Unlock()
	if taken {
		return p, nil
	}
	return Free()
}

// Address is host:port of a loopback port.
func Address(p int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p)) }

// take needs the lock.
func take(p int) bool {
	if given[p] {
		return false
	}
	l, err := net.Listen("tcp", Address(p))
	if err != nil || l.Close() != nil {
		return false
	}
	given[p] = true
	return true
}
