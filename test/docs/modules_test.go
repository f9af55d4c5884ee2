package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// A module that requires the integration ignores its replace directive, so the version of the library must exist. Before
// the first release, it must be lower than v0.0.0 and than every other pseudo-version, so that go get can choose the main
// branch.
func TestIntegrationRequiresTheLastRelease(t *testing.T) {
	want := "v0.0.0-00010101000000-000000000000"
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	if release := regexp.MustCompile(`(?m)^## v?(\d+\.\d+\.\d+)`).FindSubmatch(changelog); release != nil {
		want = "v" + string(release[1])
	}
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	edit.Dir = filepath.Join(root, "integrations/controllerruntime")
	out, err := edit.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		if r.Path == "github.com/informer-exporter/informer-exporter" {
			if r.Version != want {
				t.Errorf("the integration requires %s of the library, want %s", r.Version, want)
			}
			return
		}
	}
	t.Error("the integration does not require the library")
}
