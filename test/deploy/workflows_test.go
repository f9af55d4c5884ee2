package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// pinned is a commit with its tag in a comment: a tag can be moved to other code.
var pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// Actions are pinned, and no job has a permission that it was not given.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*-? uses: (.*)$`)
	actions := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllSubmatch(raw, -1) {
			if actions++; !pinned.Match(m[1]) {
				t.Errorf("%s: %s is not pinned by commit, with its version in a comment", file, m[1])
			}
		}
		var w struct{ Permissions any }
		if err := yaml.Unmarshal(raw, &w); err != nil {
			t.Fatal(err)
		}
		if of, ok := w.Permissions.(map[string]any); !ok || len(of) > 1 || len(of) == 1 && of["contents"] != "read" {
			t.Errorf("%s: the permissions of all jobs are %v, want contents: read or none", file, w.Permissions)
		}
	}
	if actions < 20 {
		t.Errorf("only %d actions are found", actions)
	}
}

// A release is compared with the last one before a job may publish.
func TestReleaseComparesFirst(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, ".github/workflows/release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		Needs       string
		Permissions map[string]string
		Steps       []struct{ Run string }
	}
	var w struct{ Jobs map[string]job }
	if err := yaml.Unmarshal(raw, &w); err != nil {
		t.Fatal(err)
	}
	compares := func(j job) bool {
		return slices.ContainsFunc(j.Steps, func(s struct{ Run string }) bool { return s.Run == "make apidiff metricdiff" })
	}
	publishing := 0
	for name, j := range w.Jobs {
		if !slices.Contains(slices.Collect(maps.Values(j.Permissions)), "write") {
			continue
		}
		publishing++
		before := w.Jobs[j.Needs]
		for ; !compares(before) && before.Needs != ""; before = w.Jobs[before.Needs] {
		}
		if !compares(before) {
			t.Errorf("job %s publishes without make apidiff metricdiff", name)
		}
	}
	if publishing < 3 {
		t.Errorf("only %d jobs publish", publishing)
	}
}
