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
//	writes that change nothing              resourceVersion in the response, compared with the request or the last write
package apiclient
