// Package auditlog verifies what the audit-log observer shows of programs that run against real API servers. testdata/faults.md is the
// table of programs, faults and alerts.
package auditlog
