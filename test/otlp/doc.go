// Package otlp tests the export of traces to Jaeger, which has the OTLP receiver of the OpenTelemetry Collector, and what faults of
// the receiver do to the traced program. It has only tests.
//
//	arrive_test.go  traces arrive over gRPC and HTTP
//	faults_test.go  a receiver that is killed, frozen or rejects spans: throughput, memory, counts of dropped spans
package otlp
