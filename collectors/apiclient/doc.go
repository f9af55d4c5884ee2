// Package apiclient observes the requests of a program to the API server: their number and duration by verb, resource and status
// code, conflicts, writes that change nothing, the time until the program's own watch delivers its writes, bytes of lists and watches, and
// waits for the client-side rate limiter.
//
//	config = apiclient.WrapConfig(obs, config, apiclient.Options{})
//
// Requests are observed in the transport of the client, so each attempt of a retried request counts. client-go's default rate
// limiters can be observed only through its process-wide hook: see NewMetrics.
package apiclient
