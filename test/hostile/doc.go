// Package hostile runs the built exporter and a program with the library against an API server that lies about some resources,
// and checks that both survive, that their memory is limited, that other resources are still exact, and that an alert reports
// each case. It also runs the exporter in a cluster with a malicious tenant.
// `make hostile` runs each case of the API server alone and prints the alert and the peak memory of each.
package hostile
