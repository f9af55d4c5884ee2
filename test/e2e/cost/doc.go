// Package cost measures what rules and dashboards cost a Prometheus server: the samples that its own engine reads for the
// series of a fleet of clusters. The series are those that a program with the library and an exporter really expose.
package cost
