package faultproxy

import (
	"net"
	"sync"
	"time"
)

// pair is a client's connection and its connection to the server.
type pair struct {
	proxy  *Proxy
	client net.Conn

	mu     sync.Mutex
	server net.Conn      // nil until dialed
	dead   chan struct{} // closed by reset
	once   sync.Once
}

// chunk is the result of one read. The last one of a stream is empty.
type chunk struct {
	bytes []byte
	read  time.Time
}

func (c *pair) run() {
	defer c.proxy.forget(c)
	server, err := net.DialTimeout("tcp", c.proxy.target, 10*time.Second)
	if err != nil {
		c.reset()
		return
	}
	c.mu.Lock()
	c.server = server
	c.mu.Unlock()
	select {
	case <-c.dead: // reset during the dial
		abort(server)
		return
	default:
	}
	var streams sync.WaitGroup
	streams.Go(func() { c.stream(c.client, server, false) })
	streams.Go(func() { c.stream(server, c.client, true) })
	streams.Wait()
	// Both sides have closed, or both connections were reset. This is Close and not abort: a reset could overtake the last bytes.
	c.client.Close()
	server.Close()
}

// stream forwards one direction. A reader and a writer run concurrently, so that a delay holds back each byte but not
// the next read.
func (c *pair) stream(from, to net.Conn, fromServer bool) {
	chunks := make(chan chunk, 256)
	var reader sync.WaitGroup
	reader.Go(func() { c.read(from, chunks) })
	defer reader.Wait()
	for {
		var next chunk
		select {
		case next = <-chunks:
		case <-c.dead:
			return
		}
		if !c.hold(next.read, fromServer) {
			return
		}
		if len(next.bytes) == 0 {
			closeWrite(to)
			return
		}
		bytes, reset := next.bytes, false
		if fromServer {
			var allowed int
			allowed, reset = c.proxy.take(len(bytes))
			bytes = bytes[:allowed]
		}
		_, err := to.Write(bytes)
		if reset || err != nil {
			c.reset()
			return
		}
	}
}

func (c *pair) read(from net.Conn, chunks chan<- chunk) {
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		read := time.Now()
		if n > 0 {
			select {
			case chunks <- chunk{buffer[:n], read}:
			case <-c.dead:
				return
			}
		}
		if err != nil {
			select {
			case chunks <- chunk{read: read}:
			case <-c.dead:
			}
			return
		}
	}
}

// hold waits until a chunk may pass and reports whether the connection is still open.
func (c *pair) hold(read time.Time, fromServer bool) bool {
	for {
		f, changed := c.proxy.now()
		var wait time.Duration
		if fromServer {
			wait = time.Until(read.Add(f.delay))
		}
		if !f.halfOpen && wait <= 0 {
			return true
		}
		var timer <-chan time.Time
		if !f.halfOpen {
			timer = time.After(wait)
		}
		select {
		case <-timer:
		case <-changed:
		case <-c.dead:
			return false
		}
	}
}

// reset closes both connections with RST, so that neither side sees an orderly close.
func (c *pair) reset() {
	c.once.Do(func() { close(c.dead) })
	abort(c.client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		abort(c.server)
	}
}

func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only if it is already closed
	}
	_ = conn.Close()
}

func closeWrite(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}
