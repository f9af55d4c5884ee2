// Package cost measures what rules and dashboards cost a Prometheus server: the samples that its own engine reads for the
// series of a fleet of clusters. The series are those that a program with the library and an exporter really expose.
//
//	shapes_test.go   the series of one cluster, from a program and an exporter that run with a real API server
//	fleet_test.go    a storage with the series of many clusters
//	recorded_test.go the series that recording rules add
//	rules_test.go    the cost of rules, and its budget
//	boards_test.go   the cost of opened dashboards
package cost
