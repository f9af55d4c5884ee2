// Package faults injects the faults that informers meet in production into a real API server, its etcd and the connection to
// it, and verifies every series: which change, by how much, and that no others change. Besides the tests, it has the table of
// these faults, from which `make generate` writes docs/faults.md.
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
//	faults that only cache checks detect   audit_test.go, mutation_test.go
//	many informers, all faults at once     many_test.go, stress_test.go
//
// What they share:
//
//	a decorated informer and its handlers  rig_test.go
//	objects on the server                  objects_test.go
//	the proxy on the wire                  internal/testenv/faultproxy
//	responses in place of the server's     gate_test.go
//	the stream of a watch                  stream_test.go
//	expected changes of series             changes_test.go
//	waits for exactly these changes        expect_test.go
//	claims of rows                         claim_test.go, table_test.go
//	claims of its row that a test has shown  proof_test.go
//
// A test of a fault begins with fault(t), and fails if its row has a claim that the test has not shown.
package faults
