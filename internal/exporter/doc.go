// Package exporter watches a cluster through the library's own decorated informers and serves what they report. It
// assembles the packages below it. Each imports only packages that follow it in this list:
//
//	web           metrics, probes, profiles, the landing page and its data as JSON
//	cost          predicted series, requests and memory of a configuration, for informer-exporter cost
//	check         problems of a cluster at one time, for informer-exporter check
//	status        state of each informer, and readiness
//	discovery     starts and stops informers according to the configuration and the resources that the API server serves
//	election      leader election of the replica that audits
//	informers     one informer per resource and namespace, in a set that can change while it runs
//	client        clients of the API server, which decode only the fields that are read
//	availability  whether a resource can be listed and watched
//	config        the configuration file, its reload, its reference and its RBAC rules
//	sharding      assignment of resources and objects to shards
//	kinds         the default resources, and patterns
//	buildinfo     name and version of the program
//
// Listening, TLS, authentication, flags and signals belong to cmd/exporter.
package exporter
