package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
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
