package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Servers listen below the range from which kernels take the local ports of outgoing connections (32768 and up on Linux,
// 49152 elsewhere). A port in that range could be gone when a server that was stopped on purpose wants it back.
const (
	firstPort = 12000
	lastPort  = 32000
)

var (
	portsMu sync.Mutex
	ports   = map[int]bool{}
)

// FreePort returns a loopback port on which nothing listens and which it has not given out before in this process.
func FreePort() (int, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if !ports[port] && portIsFree(port) {
			ports[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 between %d and %d", firstPort, lastPort)
}

// PreferPort returns the port if it is free, else another one as FreePort does.
func PreferPort(port int) (int, error) {
	portsMu.Lock()
	free := !ports[port] && portIsFree(port)
	if free {
		ports[port] = true
	}
	portsMu.Unlock()
	if free {
		return port, nil
	}
	return FreePort()
}

func portIsFree(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns n of them.
func freePorts(n int) ([]int, error) {
	found := make([]int, n)
	var errs error
	for i := range found {
		var err error
		found[i], err = FreePort()
		errs = errors.Join(errs, err)
	}
	return found, errs
}
