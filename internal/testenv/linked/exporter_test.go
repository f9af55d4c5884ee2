package linked_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const library = "github.com/informer-exporter/informer-exporter"

// TestOneProduct compares the modules with which the workspace builds the exporter (make build, ko, goreleaser) with those of
// cmd/exporter/go.mod (go install): a module of the workspace that requires a newer version would make them differ.
func TestOneProduct(t *testing.T) {
	t.Parallel()
	const dir = "../../../cmd/exporter"
	alone := filepath.Join(t.TempDir(), "go.mod")
	for from, to := range map[string]string{"go.mod": alone, "go.sum": strings.TrimSuffix(alone, "mod") + "sum"} {
		content, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A release has no replacement.
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-replace="+library+"=../..", alone).CombinedOutput(); err != nil {
		t.Fatalf("go mod edit: %v\n%s", err, out)
	}
	modules := func(env string, args ...string) []string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{with .Replace}} {{.Path}} {{.Version}}{{end}}{{end}}"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list with %s: %v", env, err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, library) })
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	workspace, installed := modules("GOWORK=", "."), modules("GOWORK=off", "-modfile="+alone, ".")
	if len(installed) < 40 || !slices.Equal(workspace, installed) {
		t.Errorf("the workspace builds the exporter with\n%s\ngo install with\n%s", strings.Join(workspace, "\n"), strings.Join(installed, "\n"))
	}
}
