package linked_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsAreLinkedWithWhatTheyUse builds programs with the library. Reflection over methods in the library would make
// the linker keep every exported method of a program. A reference to client-go's typed factory would make it keep all
// informers of the factory.
func TestProgramsAreLinkedWithWhatTheyUse(t *testing.T) {
	for program, unused := range map[string][]string{
		"informer": {
			"main.canary.UnusedMethod",
			"k8s.io/client-go/informers",
			"k8s.io/client-go/listers/",
			"k8s.io/client-go/kubernetes/typed/",
			"k8s.io/client-go/applyconfigurations/apps",
		},
		"factory": {
			"main.canary.UnusedMethod",
			"k8s.io/client-go/informers/apps/v1.(*deploymentInformer)",
			"k8s.io/client-go/applyconfigurations/apps/v1.(*DeploymentApplyConfiguration)",
		},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			binary := filepath.Join(t.TempDir(), program)
			if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./"+program).CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", binary).Output()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(symbols), "main.main") {
				t.Fatal("the program has no symbols")
			}
			for line := range strings.Lines(string(symbols)) {
				for _, name := range unused {
					if strings.Contains(line, " "+name) {
						t.Errorf("linked with %s", strings.TrimSpace(line))
					}
				}
			}
		})
	}
}
