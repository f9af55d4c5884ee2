// Package exporter watches a cluster through the library's own decorated informers and serves what they report.
//
//	kinds.go         what is watched by default, on one screen
//	config.go        the configuration file
//	reload.go        reading it again when it changes
//	client.go        how the API server is reached
//	metadata.go      the client for metadata
//	prune.go         what of metadata is not even decoded, and of whole objects, which come in JSON, in prune_json.go
//	object.go        what is kept of an object
//	discovery.go     what the API server serves
//	choose.go        what the configuration asks for, of what is served
//	follow.go        keeping the informers equal to that
//	shard.go         what of it is whose, if several exporters share the work
//	split.go         how the objects of one kind are shared
//	part.go          by the API server, and making sure of that
//	lookout.go       what a shard must know of kinds that others watch
//	informers.go     one informer for each kind and namespace
//	set.go           the set of them, which can be exchanged while they run
//	objects.go       what is reported about objects, and for which of them more is read than metadata
//	availability.go  whether a kind can be listed and watched, by the API server's own answers
//	registry.go      the registry, and what the exporter reports about itself
//	exporter.go      Exporter: New, Start, Stop
//	handler.go       the paths
//	protect.go       what stands before all of them: limits and security headers
//	health.go        liveness and readiness
//	state.go         how each target is doing
//	landing.go       the page for people that shows it
//	api.go           the same for programs
//
// Listening, TLS, authentication, flags and signals belong to cmd/exporter.
package exporter
