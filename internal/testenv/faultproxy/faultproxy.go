// Package faultproxy is a TCP proxy between a client and the API server that breaks their connections at run time, as networks,
// load balancers and failing machines do.
//
// It forwards bytes without reading them, so TLS passes through: the client keeps the server's certificate authority
// and only dials another address; see RESTConfig.
//
//	proxy, err := faultproxy.Start(apiServerAddress)
//	defer proxy.Close()
//	client, err := kubernetes.NewForConfig(proxy.RESTConfig(cfg))
//	proxy.HalfOpen()  // the watch stays connected but nothing arrives
//	proxy.Restore()
//
// Faults combine until Restore: a delayed connection can be cut.
package faultproxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// Proxy forwards TCP connections to one address. It is safe for concurrent use.
type Proxy struct {
	target  string
	address string
	pumps   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	listener net.Listener // nil while connections are refused
	pairs    map[*pair]struct{}
	accepted int
	faults   faults
	changed  chan struct{} // closed and replaced when faults change, to wake the pumps
}

// faults are the active faults.
type faults struct {
	halfOpen bool
	delay    time.Duration
	limited  bool
	left     int // bytes from the server until a reset, if limited
}

// Start listens on a free loopback port and forwards to target, a host:port.
func Start(target string) (*Proxy, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("faultproxy: target %q is not host:port: %w", target, err)
	}
	p := &Proxy{target: target, address: port.Address(port.Free()), pairs: map[*pair]struct{}{}, changed: make(chan struct{})}
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		return nil, fmt.Errorf("faultproxy: %w", err)
	}
	p.listen(l)
	return p, nil
}

// Address returns the host:port that clients dial. It does not change.
func (p *Proxy) Address() string { return p.address }

// Connections returns the number of open connections.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs)
}

// Accepted returns the number of connections accepted so far, which shows that a client has reconnected.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Cut resets every connection and refuses new ones, like a host that has restarted and on which nothing listens yet.
func (p *Proxy) Cut() {
	p.Refuse()
	p.Reset()
}

// Refuse refuses new connections and keeps open ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	l := p.listener
	p.listener = nil
	p.mu.Unlock()
	if l != nil {
		_ = l.Close() // it is closed in either case
	}
}

// Reset resets every connection and accepts new ones, as a load balancer does on reload.
func (p *Proxy) Reset() {
	for _, c := range p.open() {
		c.reset()
	}
}

// HalfOpen keeps all connections open, accepts new ones, and forwards nothing in either direction, not even a close, as
// after a silent failure of the other machine. Restore delivers the data in transit.
func (p *Proxy) HalfOpen() { p.change(func(f *faults) { f.halfOpen = true }) }

// Delay delays everything from the server, without reordering it or reducing throughput.
func (p *Proxy) Delay(d time.Duration) { p.change(func(f *faults) { f.delay = max(d, 0) }) }

// CutAfter forwards n more bytes from the server, counted over all connections, and then resets the connection of the next
// byte, in the middle of its data. It takes effect once.
func (p *Proxy) CutAfter(n int) {
	p.change(func(f *faults) { f.limited, f.left = true, max(n, 0) })
}

// Restore ends all faults. It fails if the address was taken while connections were refused.
func (p *Proxy) Restore() error {
	p.change(func(f *faults) { *f = faults{} })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("faultproxy: closed")
	}
	if p.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		return fmt.Errorf("faultproxy: listen again: %w", err)
	}
	p.listen(l)
	return nil
}

// Close resets all connections and returns when all goroutines of the proxy have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Cut()
	p.pumps.Wait()
	return nil
}

// listen requires the lock, except in Start.
func (p *Proxy) listen(l net.Listener) {
	p.listener = l
	p.pumps.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				if errors.Is(err, net.ErrClosed) {
					return
				}
				time.Sleep(10 * time.Millisecond) // out of file descriptors, or the client has disconnected
				continue
			}
			p.serve(conn)
		}
	})
}

// serve dials the server immediately, so that both connections exist before the first byte.
func (p *Proxy) serve(client net.Conn) {
	c := &pair{proxy: p, client: client, dead: make(chan struct{})}
	p.mu.Lock()
	p.accepted++
	if p.listener == nil { // refused or closed meanwhile: Cut has already listed the connections that it resets
		p.mu.Unlock()
		c.reset()
		return
	}
	p.pairs[c] = struct{}{}
	p.mu.Unlock()
	p.pumps.Go(c.run)
}

func (p *Proxy) forget(c *pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, c)
}

func (p *Proxy) open() []*pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := make([]*pair, 0, len(p.pairs))
	for c := range p.pairs {
		open = append(open, c)
	}
	return open
}

func (p *Proxy) change(set func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set(&p.faults)
	close(p.changed)
	p.changed = make(chan struct{})
}

// now returns the active faults and a channel that is closed when they change.
func (p *Proxy) now() (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.changed
}

// take requests to forward n bytes from the server. It returns how many may pass, and whether the connection must be
// reset afterwards. The limit applies once.
func (p *Proxy) take(n int) (allowed int, reset bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.faults
	if !f.limited {
		return n, false
	}
	if n <= f.left {
		f.left -= n
		return n, false
	}
	allowed = f.left
	f.limited, f.left = false, 0
	return allowed, true
}
