// Package otlp tests the export of traces to a real OTLP receiver, Jaeger's, which is that of the OpenTelemetry Collector, and
// what its faults do to the traced program. There is only test code here.
//
//	arrive_test.go  traces arrive over gRPC and HTTP
//	faults_test.go  a receiver that is killed, frozen or refuses: throughput, memory, counts of dropped spans
package otlp
