// Package apiclient decorates clients of the API server. It reports their requests by verb, resource and status code, their
// conflicts, and how long they wait for the client's own rate limiter.
//
//	config = apiclient.WrapConfig(obs, config)
//
// Hooks in client-go:
//
//	what is reported                        taken from
//	requests, their duration, conflicts     rest.Config.Wrap: each attempt passes the transport
//	throttle wait                           rest.Config.RateLimiter
//
// Files:
//
//	transport.go  WrapConfig and WrapTransport, the decorator of an http.RoundTripper
//	requests.go   the series of requests, created when a program first sends such a request
//	throttle.go   the decorator of a flowcontrol.RateLimiter
//	values.go     values of labels with a closed set
package apiclient
