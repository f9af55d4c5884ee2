package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The operator shows what programs without the library report, so it must not import any of it.
func TestOperatorIsWithoutTheLibrary(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path := range strings.Lines(string(out)) {
		if strings.Contains(path, "informer-exporter/") && !strings.HasSuffix(strings.TrimSpace(path), "/undecorated") {
			t.Errorf("it imports %s", path)
		}
	}
}
