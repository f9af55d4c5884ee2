// Package faults injects the faults that informers meet in production into a real API server, its etcd and the connection to
// it, and compares every series: which change, by how much, and that no other does. Outside of tests it is the table of these
// faults, from which `make generate` writes docs/faults.md.
//
// The table:
//
//	rows                                   rows.go
//	their form                             table.go
//
// The faults:
//
//	ends of watches                        watch_test.go
//	connections                            connection_test.go
//	lists that fail or take long           list_test.go
//	relists                                relist_test.go
//	API server and etcd                    server_test.go
//	deleted resources, aggregated APIs     crd_test.go, aggregated_test.go
//	handlers                               handler_test.go, panic_test.go
//	Transforms                             transform_test.go
//	what only checks of the cache find     audit_test.go, mutation_test.go
//	many informers, all faults at once     many_test.go, stress_test.go
//
// What they share:
//
//	a decorated informer and its handlers  rig_test.go
//	objects on the server                  objects_test.go
//	the proxy on the wire                  internal/testenv/faultproxy
//	answers in place of the server's       gate_test.go
//	the stream of a watch                  stream_test.go
//	expected changes of series             changes_test.go
//	waiting for exactly these              expect_test.go
//	claims of rows                         claim_test.go, table_test.go
//	what a test has shown of its row       proof_test.go
//
// A test of a fault begins with fault(t), and fails if its row says what it has not shown.
package faults
