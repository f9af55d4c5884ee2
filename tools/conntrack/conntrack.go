// Package conntrack has the functions of github.com/mwitkow/go-conntrack that prometheus/common calls, without its tracing and
// metrics of connections. exporter-toolkit imports them, and no program here uses them.
//
// The original imports golang.org/x/net/trace, which registers pages made with html/template in its init function. Templates call
// methods by name, and a linker that sees this keeps every exported method of every type: 9 MB of the exporter. Only go.work
// replaces the package: `go install` works without it, and links the original.
package conntrack

import (
	"context"
	"net"
)

// dial connects to an address.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// DialerOpt is an option of NewDialContextFunc.
type DialerOpt func(*dial)

// DialWithTracing does nothing.
func DialWithTracing() DialerOpt { return func(*dial) {} }

// DialWithName does nothing.
func DialWithName(string) DialerOpt { return func(*dial) {} }

// DialWithDialContextFunc connects with a function other than that of net.Dialer.
func DialWithDialContextFunc(f func(ctx context.Context, network, address string) (net.Conn, error)) DialerOpt {
	return func(d *dial) { *d = f }
}

// NewDialContextFunc returns a function that connects.
func NewDialContextFunc(options ...DialerOpt) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := (&net.Dialer{}).DialContext
	for _, o := range options {
		o(&d)
	}
	return d
}
