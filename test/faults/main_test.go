package faults

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) {
	// These tests mostly wait. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(withAuditLog(m))
}

// audit is the directory of the audit logs, one for each API server, and their policy.
var audit struct{ dir, policy string }

// audited returns the arguments of an API server with an audit log.
func audited(name string) []string {
	return []string{"--audit-policy-file=" + audit.policy, "--audit-log-path=" + filepath.Join(audit.dir, name+".log")}
}

// private returns a control plane of the test's own, with an audit log.
func private(t *testing.T, args ...string) *stack.ControlPlane {
	t.Helper()
	return stacktest.Private(t, stack.Options{APIServerArgs: append(audited(t.Name()), args...)})
}

// withAuditLog runs the tests with audit logs, and then compares what they show with what the decorators showed.
func withAuditLog(m *testing.M) int {
	var err error
	if audit.policy, err = filepath.Abs("../../deploy/audit/policy.yaml"); err != nil {
		panic(err)
	}
	if audit.dir, err = os.MkdirTemp("", "audit-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(audit.dir) }() // temporary
	code := stacktest.Run(m, audited("shared")...)
	if code != 0 || len(truth.of) == 0 {
		return code
	}
	if err := compareWithAuditLogs(os.Getenv("UPDATE") != ""); err != nil {
		fmt.Fprintln(os.Stderr, "audit log:", err)
		return 1
	}
	return code
}
