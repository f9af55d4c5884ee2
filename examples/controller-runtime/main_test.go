package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// lines are the lines of main.go that an operator changes, with and without the library.
var lines = [][2]string{
	{"\n\t\"github.com/informer-exporter/informer-exporter/integrations/controllerruntime\"\n", ""},
	{"mgr, err := controllerruntime.NewManager(", "mgr, err := ctrl.NewManager("},
	{"}, controllerruntime.Options{Name: \"owner-labels\", Tracer: tracer})", "})"},
	{"metricsOptions.FilterProvider = controllerruntime.WithAuthenticationAndAuthorization", ""}, // the plain program serves HTTP here
	{"tracer, stopTracing := newTracer()", "_, stopTracing := newTracer()"},
}

// program builds the example, without the library if plain is set.
func program(t *testing.T, plain bool) string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "operator")
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", binary}
	if plain {
		source, err := os.ReadFile("main.go")
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for _, line := range lines {
			if strings.Count(text, line[0]) != 1 {
				t.Fatalf("main.go does not have %q once", line[0])
			}
			text = strings.Replace(text, line[0], line[1], 1)
		}
		if strings.Contains(text, "controllerruntime.") {
			t.Fatalf("more lines of main.go use the library:\n%s", text)
		}
		here, err := filepath.Abs("main.go")
		if err != nil {
			t.Fatal(err)
		}
		replaced, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
		for file, content := range map[string]string{replaced: text, overlay: `{"Replace": {"` + here + `": "` + replaced + `"}}`} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return binary
}
