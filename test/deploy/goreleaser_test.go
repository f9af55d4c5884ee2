package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// Krew copies the files of an archive as they are, and runs the program at its root: goreleaser writes only its name into the manifest
// (https://github.com/goreleaser/goreleaser/issues/6948). Krew's index requires the license.
func TestKrewFindsTheProgram(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type archive struct {
		ID    string `json:"id"`
		Name  string `json:"name_template"`
		Wrap  any    `json:"wrap_in_directory"`
		Files []any  `json:"files"`
	}
	var config struct {
		Archives []archive `json:"archives"`
		Krews    []struct {
			IDs []string `json:"ids"`
		} `json:"krews"`
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, a := range config.Archives {
		if names[a.Name] {
			t.Errorf("two archives have the name %s", a.Name)
		}
		names[a.Name] = true
	}
	if len(config.Krews) != 1 || len(config.Krews[0].IDs) != 1 {
		t.Fatalf("%+v, want one manifest of one kind of archive", config.Krews)
	}
	id := config.Krews[0].IDs[0]
	i := slices.IndexFunc(config.Archives, func(a archive) bool { return a.ID == id })
	if i < 0 {
		t.Fatalf("there is no archive %s", id)
	}
	if a := config.Archives[i]; a.Wrap != nil && a.Wrap != false || !slices.Contains(a.Files, any("LICENSE")) {
		t.Errorf("the archive for krew is %+v, want the program and LICENSE at its root", a)
	}
}
