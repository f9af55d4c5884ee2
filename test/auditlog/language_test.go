package auditlog

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// pythonLog is the audit log of TestPython, with which it is verified where Python or its client are missing. UPDATE=1 writes it.
const pythonLog = "testdata/python.log.gz"

// pythonFaults are the faults of client.py, each in a program with a service account of this name.
var pythonFaults = map[string]func(report.Client) bool{
	"lost":    func(c report.Client) bool { return c.Lost == 1 },
	"relists": func(c report.Client) bool { return c.Relists >= 4 },
	"loop":    func(c report.Client) bool { return len(c.HotLoops) == 1 },
}

// The report names programs in another language, with the official Python client.
func TestPython(t *testing.T) {
	t.Parallel()
	if err := pythonReport(t, pythonLog); err != nil {
		t.Errorf("%s: %v", pythonLog, err)
	}
	const python = "/usr/bin/python3" // of Debian's package python3-kubernetes
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import kubernetes").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: running the program, because Python's client is missing (Debian: python3-kubernetes): %v %s", err, bytes.TrimSpace(out))
	}
	policy, err := filepath.Abs(auditFiles + "policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "audit.log")
	plane := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}})
	admin, create := kubernetes.NewForConfigOrDie(plane.Config()).CoreV1(), metav1.CreateOptions{}
	if _, err := admin.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, create); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prices"}}, create); err != nil {
		t.Fatal(err)
	}
	for fault := range pythonFaults {
		account := stacktest.NewAccount(t, plane, namespace, fault)
		account.Grant(t, namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "services"}, Verbs: []string{"list", "watch", "patch"}})
		var output bytes.Buffer
		program := exec.CommandContext(t.Context(), python, "testdata/client.py", stacktest.Kubeconfig(t, account.Config), namespace, fault)
		program.Stdout, program.Stderr = &output, &output
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = program.Process.Kill() // it may have ended
			if _ = program.Wait(); t.Failed() {
				t.Logf("%s: %s", fault, &output)
			}
		})
	}
	await.NoError(t, "the report names each program", func() error { return pythonReport(t, log) })
	if os.Getenv("UPDATE") != "" {
		writeLog(t, log, pythonLog)
	}
}

// pythonReport returns an error unless the report of a log has each fault, and only with the program that has it.
func pythonReport(t *testing.T, log string) error {
	t.Helper()
	files, err := report.Open([]string{log}, nil)
	if err != nil {
		return err
	}
	r, err := report.Of(t.Context(), files, report.Options{})
	if err != nil {
		return err
	}
	found := map[string]report.Client{}
	for _, c := range r.Clients {
		found[c.User] = c
	}
	for fault, has := range pythonFaults {
		for user, c := range found {
			if own := user == "system:serviceaccount:"+namespace+":"+fault; own != has(c) {
				return fmt.Errorf("%s of %s: %+v", fault, user, c)
			}
		}
		if c := found["system:serviceaccount:"+namespace+":"+fault]; c.Agent != "OpenAPI-Generator" {
			return fmt.Errorf("%s has the user agent %q", fault, c.Agent)
		}
	}
	return nil
}
