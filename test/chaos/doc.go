// Package chaos breaks what the running exporter depends on, and checks what it reports during the fault. It breaks the
// servers of the control plane, their certificates, the exporter's tokens and permissions, the resources that it watches, and
// its configuration. The tests run the built program against real servers. Besides the tests, the package has the table of
// these faults, from which `make generate` writes docs/dev/chaos.md.
//
// `make chaos` runs the long forms, in which outages last as long as they do in production.
package chaos
