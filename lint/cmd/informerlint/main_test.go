package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program finds the mistakes of a package by itself, and as the tool of go vet.
func TestProgram(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "informerlint")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{
		"program":        {tool, "queuedone"},
		"tool of go vet": {"go", "vet", "-vettool=" + tool, "queuedone"},
		"one rule":       {tool, "-queuedone", "queuedone"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Dir = testdata
			cmd.Env = append(os.Environ(), "GOPATH="+testdata, "GO111MODULE=off", "GOWORK=off", "GOFLAGS=")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) {
				t.Fatalf("the exit status is 0, or there is none: %v", err)
			}
			if !strings.Contains(stderr.String(), "not every path from Get to a return calls Done") {
				t.Errorf("the findings are\n%s", stderr.String())
			}
		})
	}
}
