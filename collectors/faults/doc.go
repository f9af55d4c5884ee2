// Package faults has no code of its own: its tests break a real API server, its etcd and the connection to it in every
// way that informers meet in production, and say for each exactly which series move, by how much, and that no other
// does. docs/faults.md is the table of what they prove; a test fails if a fault is missing there.
//
// It is a package of its own because its tests take minutes and kill their servers. rig_test.go holds what they share:
// a decorated informer in a namespace of its own, a proxy that breaks connections on the wire, and a gate that answers
// requests in place of the server.
package faults
