// Package apiclient decorates clients of the API server. It reports their requests by verb, resource and status code, their
// conflicts, and how long they wait for the client-side rate limiter.
//
//	config = apiclient.WrapConfig(obs, config)
//
// Hooks in client-go:
//
//	what is reported                        taken from
//	requests, their duration, conflicts     rest.Config.Wrap: each attempt passes the transport
//	throttle wait                           rest.Config.RateLimiter, or client-go's process-wide hook (NewMetrics)
//	bytes of lists and watches              the body of the response, after decompression
//	bytes of gzip on the wire, if enabled   the body of the response, before decompression
//	writes that change nothing              resourceVersion in the bodies of request and response
//
// Files:
//
//	transport.go     WrapConfig and WrapTransport, the decorator of an http.RoundTripper
//	spans.go         spans of requests in a traced reconcile
//	requests.go      the series of requests, created when a program first sends such a request
//	compression.go   decompresses in place of net/http, to count the bytes on the wire
//	reads.go         lists and watches: the requested version, and their bytes
//	writes.go        updates and patches that change nothing
//	version_scan.go  finds the resourceVersion of an object in JSON or protobuf
//	throttle.go      the decorator of a flowcontrol.RateLimiter; NewMetrics, the hook for client-go's own limiters
//	values.go        values of labels with a closed set
package apiclient
