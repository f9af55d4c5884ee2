package faultproxy_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

// quiet is how long a test waits before it concludes that nothing arrives. patience is how long it waits for data that must
// arrive.
const (
	quiet    = 200 * time.Millisecond
	patience = await.Timeout
)

// echo starts a server that returns what it receives, and closes a connection when its client does.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return l.Addr().String()
}

// start starts a proxy. At the end of the test, it verifies that Close leaves no connections.
func start(t *testing.T, target string) *faultproxy.Proxy {
	t.Helper()
	p, err := faultproxy.Start(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if n := p.Connections(); n != 0 {
			t.Errorf("%d connections after Close", n)
		}
	})
	return p
}

func leakFree(t *testing.T) { t.Cleanup(func() { leaktest.None(t) }) }

func dial(t *testing.T, p *faultproxy.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func deadline(t *testing.T, c net.Conn, in time.Duration) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(in)); err != nil {
		t.Fatal(err)
	}
}

func closeWrite(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Error(err)
	}
}

func send(t *testing.T, c net.Conn, what string) {
	t.Helper()
	if _, err := io.WriteString(c, what); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, what string) {
	t.Helper()
	got := make([]byte, len(what))
	deadline(t, c, patience)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != what {
		t.Fatalf("got %q, %v; want %q", got, err, what)
	}
}

func expectNothing(t *testing.T, c net.Conn) {
	t.Helper()
	deadline(t, c, quiet)
	n, err := c.Read(make([]byte, 1))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want silence", n, err)
	}
}

// expectReset expects RST, not the FIN of an orderly close.
func expectReset(t *testing.T, c net.Conn) {
	t.Helper()
	deadline(t, c, patience)
	n, err := c.Read(make([]byte, 1))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("read %d bytes, %v; want a reset", n, err)
	}
}

func expectRefused(t *testing.T, p *faultproxy.Proxy) {
	t.Helper()
	c, err := net.DialTimeout("tcp", p.Address(), patience)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dial: %v; want connection refused", err)
	}
}

func restore(t *testing.T, p *faultproxy.Proxy) {
	t.Helper()
	if err := p.Restore(); err != nil {
		t.Fatal(err)
	}
}

func talks(t *testing.T, c net.Conn) {
	t.Helper()
	send(t, c, "hello")
	expect(t, c, "hello")
}

func TestForwardsUntilBothSidesHaveClosed(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, far more than any buffer on the way
	go func() {
		if _, err := c.Write(big); err != nil {
			t.Error(err)
		}
		closeWrite(t, c)
	}()
	deadline(t, c, patience)
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes of %d came back, %v", len(got), len(big), err)
	}
}

func TestOrderlyEndLosesNothing(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	send(t, c, "last words")
	closeWrite(t, c)
	await.True(t, "the proxy closes a connection that both sides closed", func() bool { return p.Connections() == 0 })
	expect(t, c, "last words") // read only now: a reset would have discarded it
}

func TestCut(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.Cut()
	expectReset(t, c)
	expectRefused(t, p)
	restore(t, p)
	talks(t, dial(t, p))
	if p.Accepted() != 2 {
		t.Errorf("%d accepted, want 2", p.Accepted())
	}
}

// A connection that is accepted at the time of the cut does not survive it.
func TestCutWhileClientsConnect(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	const clients, most = 8, 20
	for range 100 {
		open := make(chan net.Conn, clients*most)
		var dialing sync.WaitGroup
		for range clients {
			dialing.Go(func() {
				for range most {
					if c, err := net.Dial("tcp", p.Address()); err == nil {
						open <- c
					}
				}
			})
		}
		(<-open).Close()
		p.Cut()
		dialing.Wait()
		close(open)
		await.True(t, "no connection is left", func() bool { return p.Connections() == 0 })
		for c := range open {
			c.Close()
		}
		restore(t, p)
	}
}

func TestRefuseLeavesOpenConnections(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.Refuse()
	expectRefused(t, p)
	talks(t, c)
	restore(t, p)
	talks(t, dial(t, p))
}

func TestResetAcceptsNewConnections(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.Reset()
	expectReset(t, c)
	talks(t, dial(t, p))
}

func TestHalfOpen(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.HalfOpen()
	send(t, c, "lost?") // the client's kernel accepts it
	expectNothing(t, c)
	late := dial(t, p) // a new connection is accepted
	send(t, late, "late")
	expectNothing(t, late)
	restore(t, p)
	expect(t, c, "lost?")
	expect(t, late, "late")
}

func TestHalfOpenHidesThatTheServerHasClosed(t *testing.T) {
	leakFree(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := start(t, l.Addr().String())
	c := dial(t, p)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p.HalfOpen()
	server.Close()
	expectNothing(t, c)
	restore(t, p)
	deadline(t, c, patience)
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the restore: %d bytes, %v; want EOF", n, err)
	}
}

func TestHalfOpenEndsWithAReset(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.HalfOpen()
	p.Reset()
	expectReset(t, c)
}

func TestDelayHoldsBackAndKeepsOrder(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	const delay = 300 * time.Millisecond
	p.Delay(delay)
	// A slow machine may be late once. If the delays added up, every attempt would take longer than four of them.
	await.NoError(t, "four parts are delayed at the same time", func() error {
		begin := time.Now()
		for _, part := range []string{"one ", "two ", "three ", "four "} {
			send(t, c, part)
			time.Sleep(20 * time.Millisecond) // so that they are several reads; correctness does not depend on it
		}
		expect(t, c, "one ")
		if took := time.Since(begin); took < delay {
			t.Fatalf("came after %v, want at least %v", took, delay)
		}
		expect(t, c, "two three four ")
		if took := time.Since(begin); took > 3*delay {
			return fmt.Errorf("the last part came after %v: the delays add up", took)
		}
		return nil
	})
	p.Delay(time.Hour)
	send(t, c, "held")
	expectNothing(t, c)
	restore(t, p)
	expect(t, c, "held")
}

func TestCutAfterStrikesOnceInTheMiddle(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	c := dial(t, p)
	talks(t, c)
	p.CutAfter(8)
	talks(t, c) // 5 of them
	send(t, c, "0123456789")
	deadline(t, c, patience)
	got, err := io.ReadAll(c)
	// At a reset the kernel may drop what the client has not read, but never adds data.
	if !errors.Is(err, syscall.ECONNRESET) || len(got) > 3 || string(got) != "012"[:len(got)] {
		t.Fatalf("got %q, %v; want at most 3 bytes and a reset", got, err)
	}
	again := dial(t, p)
	talks(t, again)
	talks(t, again)
}

func TestServerThatIsNotThere(t *testing.T) {
	leakFree(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := l.Addr().String()
	l.Close()
	p := start(t, target)
	c, err := net.Dial("tcp", p.Address())
	if errors.Is(err, syscall.ECONNRESET) { // the reset can precede Dial's return
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	expectReset(t, c)
}

func TestBadInput(t *testing.T) {
	if _, err := faultproxy.Start("nowhere"); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf("a target without a port: %v", err)
	}
	p, err := faultproxy.Start("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := p.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := p.Restore(); err == nil {
		t.Error("a closed proxy cannot be restored")
	}
}

// TestManyAtOnce is for the race detector.
func TestManyAtOnce(t *testing.T) {
	leakFree(t)
	p := start(t, echo(t))
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c, err := net.DialTimeout("tcp", p.Address(), time.Second)
				if err != nil {
					continue
				}
				// The result depends on timing.
				_ = c.SetDeadline(time.Now().Add(50 * time.Millisecond))
				_, _ = io.WriteString(c, "x")
				_, _ = c.Read(make([]byte, 1))
				c.Close()
			}
		})
	}
	for range 20 {
		p.Delay(time.Millisecond)
		p.HalfOpen()
		p.Reset()
		p.CutAfter(3)
		p.Cut()
		restore(t, p)
	}
	close(stop)
	clients.Wait()
	talks(t, dial(t, p))
}

func pemOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestTLSPassesThrough(t *testing.T) {
	leakFree(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	defer server.Close()
	p := start(t, server.Listener.Addr().String())
	for _, host := range []string{server.URL, server.Listener.Addr().String()} {
		cfg := p.RESTConfig(&rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{CAData: pemOf(server)}})
		if !strings.Contains(cfg.Host, p.Address()) {
			t.Errorf("the client would dial %s, not the proxy", cfg.Host)
		}
		transport, err := rest.TransportFor(cfg)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodGet, cfg.Host, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "secret" {
			t.Errorf("got %q, %v", body, err)
		}
	}
	if p.Accepted() == 0 {
		t.Error("nothing went through the proxy")
	}
}
