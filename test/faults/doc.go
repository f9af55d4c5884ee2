// Package faults has no code of its own. Its tests break a real API server, its etcd and the connection to it in every
// way that informers meet in production, and say for each exactly which series move, by how much, and that no other
// does. docs/faults.md is the table of what they prove.
//
// The faults:
//
//	how watches end                        watch_test.go
//	connections                            connection_test.go
//	lists that fail or take long           list_test.go
//	lists of what is known, or was missed  relist_test.go
//	API server and etcd                    server_test.go
//	resources that go, foreign API servers crd_test.go, aggregated_test.go
//	handlers                               handler_test.go, panic_test.go
//	Transforms                             transform_test.go
//	what only checks of the cache find     audit_test.go, mutation_test.go
//	many informers, and all at once        many_test.go, stress_test.go
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
//	rows of the table and what they claim  claim_test.go, table_test.go
//	what a test has shown of its row       proof_test.go
//
// A test of a fault begins with fault(t), and fails if its row says what it has not shown.
package faults
