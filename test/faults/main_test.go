package faults

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) {
	// These tests mostly wait. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(withAuditLog(m))
}

// withAuditLog runs the tests with an audit log of the shared API server, and then compares what it shows with what the decorators
// showed.
func withAuditLog(m *testing.M) int {
	policy, err := filepath.Abs("../../deploy/audit/policy.yaml")
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "audit-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // temporary
	log := filepath.Join(dir, "audit.log")
	code := stacktest.Run(m, "--audit-policy-file="+policy, "--audit-log-path="+log)
	if code != 0 || len(truth.of) == 0 {
		return code
	}
	if err := compareWithAuditLog(log, os.Getenv("UPDATE") != ""); err != nil {
		fmt.Fprintln(os.Stderr, "audit log:", err)
		return 1
	}
	return code
}
