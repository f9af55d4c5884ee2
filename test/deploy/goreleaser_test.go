package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

type goreleaser struct {
	Archives []archive `json:"archives"`
	Krews    []struct {
		IDs []string `json:"ids"`
	} `json:"krews"`
}

type fileInfo struct {
	Mtime string `json:"mtime"`
}

type archiveFile struct {
	Src  string   `json:"src"`
	Info fileInfo `json:"info"`
}

type archive struct {
	ID         string        `json:"id"`
	Name       string        `json:"name_template"`
	Wrap       any           `json:"wrap_in_directory"`
	BuildsInfo fileInfo      `json:"builds_info"`
	Files      []archiveFile `json:"files"`
}

func readGoreleaser(t *testing.T) goreleaser {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config goreleaser
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Archives) == 0 {
		t.Fatal("there are no archives")
	}
	return config
}

// Without a time, goreleaser archives that of the checkout and of the build, so that two releases of a commit have different checksums.
func TestArchivesHaveTheTimeOfTheCommit(t *testing.T) {
	const commit = "{{ .CommitDate }}"
	for _, a := range readGoreleaser(t).Archives {
		if a.BuildsInfo.Mtime != commit {
			t.Errorf("%s: the time of the program is %q, want %q", a.ID, a.BuildsInfo.Mtime, commit)
		}
		for _, f := range a.Files {
			if f.Info.Mtime != commit {
				t.Errorf("%s: the time of %s is %q, want %q", a.ID, f.Src, f.Info.Mtime, commit)
			}
		}
	}
}

// Krew copies the files of an archive as they are, and runs the program at its root: goreleaser writes only its name into the manifest
// (https://github.com/goreleaser/goreleaser/issues/6948). Krew's index requires the license.
func TestKrewFindsTheProgram(t *testing.T) {
	config := readGoreleaser(t)
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
	if a := config.Archives[i]; a.Wrap != nil && a.Wrap != false || !slices.ContainsFunc(a.Files, func(f archiveFile) bool { return f.Src == "LICENSE" }) {
		t.Errorf("the archive for krew is %+v, want the program and LICENSE at its root", a)
	}
}
