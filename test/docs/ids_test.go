package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// internals matches IDs of requirements and words about where they come from.
var internals = regexp.MustCompile(`\b(?:S[1-5]?[0-9]|P1?[0-9]|B1?[0-9]|O[1-8]|T1)\b|\b[Dd]ocumented\b|\b[Tt]he articles\b`)

// TestUsersSeeNoIDs: IDs of requirements are for those who change the code: in docs/dev, comments and tests. Pages, files that users
// install and strings have none.
func TestUsersSeeNoIDs(t *testing.T) {
	report := func(path, text string) {
		if found := internals.FindAllString(text, -1); found != nil {
			slices.Sort(found)
			t.Errorf("%s has %q, which belong in docs/dev", strings.TrimPrefix(path, root+"/"), slices.Compact(found))
		}
	}
	for path, page := range pages(t) {
		if path != "CONTRIBUTING.md" && !strings.HasPrefix(path, "docs/dev/") && !strings.HasPrefix(path, "deploy/") {
			report(path, page)
		}
	}
	for _, folder := range []string{"docs", "deploy"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			read := slices.Contains([]string{".svg", ".json", ".yaml", ".yml", ".tpl", ".txt"}, filepath.Ext(path)) || folder == "deploy" && filepath.Ext(path) == ".md"
			if err != nil || entry.IsDir() || !read {
				return err
			}
			content, err := os.ReadFile(path)
			report(path, string(content))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, source := range sources(t) {
		relative := strings.TrimPrefix(path, root+"/")
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(relative, "test/") || strings.HasPrefix(relative, "internal/testenv/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				report(path, literal.Value)
			}
			return true
		})
	}
}
