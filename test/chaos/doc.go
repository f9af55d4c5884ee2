// Package chaos breaks what the exporter lives on while it runs, and looks at what it says: the servers of the control
// plane, its certificates and tokens, its rights, what it watches and its configuration. It has tests only, of the program
// as it is built, against real servers. docs/chaos.md is the table of them.
//
//	claims_test.go      what the program says at one moment, and claims about it
//	program_test.go     the program, as a process
//	figures_test.go     what it costs: log lines, series, goroutines, memory
//	planes_test.go      the servers
//	servers_test.go     servers that are killed
//	certificates_test.go, tokens_test.go, rights_test.go, definitions_test.go, leases_test.go, config_test.go
//	                    the other faults
//	table_test.go       docs/chaos.md against the tests
//
// `make chaos` runs the long forms, in which outages last as long as they do in production.
package chaos
