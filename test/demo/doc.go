// Package demo injects each fault of `make demo` into the whole stack and checks in Prometheus that the stack breaks and
// recovers. It has only tests.
package demo
