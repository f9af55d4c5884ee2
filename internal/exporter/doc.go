// Package exporter watches a cluster through the library's own decorated informers and serves what they report. It assembles
// the packages below it, which import each other only downwards in this list:
//
//	web           metrics, probes, profiles, the landing page and its data as JSON
//	status        how each informer is doing, and readiness
//	discovery     which kinds the API server serves, and keeping the informers equal to the configuration
//	election      which of several replicas runs audits
//	informers     one informer for each resource and namespace, in a set that can be replaced while it runs
//	client        how the API server is reached, and what of an object is decoded
//	availability  whether a resource can be listed and watched
//	config        the configuration file, its reload, its reference and the rights that it needs
//	sharding      which exporter watches what, if several share the work
//	kinds         the default resources, and patterns
//	buildinfo     name and version of the program
//
// Listening, TLS, authentication, flags and signals belong to cmd/exporter.
package exporter
