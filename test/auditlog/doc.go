// Package auditlog verifies what the audit-log observer shows of programs that run against real API servers.
package auditlog
