// Package chaos breaks what the running exporter depends on, and checks what it reports during the fault. It breaks the
// servers of the control plane, their certificates, the exporter's tokens and permissions, the resources that it watches, and
// its configuration. The tests run the built program against real servers. Besides the tests, the package has the table of
// these faults, from which `make generate` writes docs/chaos.md.
//
//	rows.go, table.go   the table
//	claims_test.go      a snapshot of the program's reports, and claims about it
//	program_test.go     the program, as a process
//	figures_test.go     the program's cost: log lines, series, goroutines, memory
//	planes_test.go      the control planes
//	servers_test.go     killed servers
//	certificates_test.go, tokens_test.go, rights_test.go, definitions_test.go, leases_test.go, config_test.go
//	                    the other faults
//	table_test.go       comparison of the table with the tests
//
// `make chaos` runs the long forms, in which outages last as long as they do in production.
package chaos
