package client

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// The exporter announces its receive buffer as the initial window of a stream.
func TestReceiveBuffer(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	windows := make(chan uint32, 1)
	go func() {
		defer close(windows)
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			if window, ok := initialWindow(conn); ok {
				windows <- window
			}
		}
	}()
	config := &rest.Config{Host: "https://" + listener.Addr().String(), TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	connection, err := Connect(config, "test", func(c *rest.Config) *rest.Config { return c }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Disconnect()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := connection.Metadata.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).List(ctx, metav1.ListOptions{})
		ended <- err
	}()
	if window := <-windows; window != receiveBuffer {
		t.Errorf("the receive buffer of a stream has %d bytes", window)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a list succeeded on a server that closes its connections")
	}
}

// initialWindow returns the initial window size of a client's settings, the first frame after its preface (RFC 9113, 3.4 and 6.5).
func initialWindow(conn net.Conn) (window uint32, ok bool) {
	start := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")+9)
	if _, err := io.ReadFull(conn, start); err != nil {
		return 0, false
	}
	header := start[len(start)-9:]
	settings := make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
	if _, err := io.ReadFull(conn, settings); err != nil {
		return 0, false
	}
	const size, initialWindowSize = 6, 4
	for ; len(settings) >= size; settings = settings[size:] {
		if binary.BigEndian.Uint16(settings) == initialWindowSize {
			return binary.BigEndian.Uint32(settings[2:]), true
		}
	}
	return 0, false
}
