package linked_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unlinked are packages that the exporter must not import, with the reasons.
var unlinked = map[string]string{
	"k8s.io/apiserver":              "internal/kubeauth sends the two reviews itself; with its dependencies, the module adds 8 MB to the program",
	"github.com/google/cel-go":      "only k8s.io/apiserver needs it",
	"k8s.io/component-base":         "it registers metrics in registries of its own",
	"html/template":                 "it calls methods by name, so the linker keeps all of them: 9 MB; see docs/dev/decisions.md and tools/conntrack",
	"golang.org/x/net/trace":        "it imports html/template; see TAGS in the Makefile and tools/conntrack",
	"github.com/alecthomas/kingpin": "it renders help with text/template",
}

// maxSize limits the size of the stripped program, in bytes. It was 38 MB for amd64 with Go 1.26.
const maxSize = 40e6

// TestExporterIsSmall builds the exporter as `make build` does.
func TestExporterIsSmall(t *testing.T) {
	t.Parallel()
	const exporter = "github.com/informer-exporter/informer-exporter/cmd/exporter"
	imports, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "grpcnotrace", exporter).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(imports), exporter) {
		t.Fatalf("dependencies of the exporter without the exporter:\n%s", imports)
	}
	for line := range strings.Lines(string(imports)) {
		name := strings.TrimSpace(line)
		for prefix, reason := range unlinked {
			if name == prefix || strings.HasPrefix(name, prefix+"/") {
				t.Errorf("the exporter imports %s: %s", name, reason)
			}
		}
	}
	binary := filepath.Join(t.TempDir(), "exporter")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags=-s -w", "-o", binary, exporter)
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("the exporter has %d bytes, more than %.0f; if it grew by a quarter at once, it probably executes a text/template, which makes the linker keep every exported method", info.Size(), maxSize)
	}
}
