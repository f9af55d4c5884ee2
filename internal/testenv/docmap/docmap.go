// Package docmap compares the list of files in a package's doc.go with the files that exist.
package docmap

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Check fails the test unless the package comment in doc.go of the current directory, which is the package under test,
// names every file of the package except doc.go and tests, and no file that is missing. A name with a slash is a path
// from that directory.
func Check(t testing.TB) {
	t.Helper()
	problems, err := compare(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// fileName matches the path of a Go file.
var fileName = regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z0-9_]\.go\b`)

func compare(dir string) (problems []string, err error) {
	doc := filepath.Join(dir, "doc.go")
	file, err := parser.ParseFile(token.NewFileSet(), doc, nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if file.Doc == nil {
		return []string{doc + " has no package comment"}, nil
	}
	named := fileName.FindAllString(file.Doc.Text(), -1)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(named))) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			problems = append(problems, fmt.Sprintf("%s names %s, which does not exist", doc, name))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		name := filepath.Base(path)
		if name == "doc.go" || strings.HasSuffix(name, "_test.go") || slices.Contains(named, name) {
			continue
		}
		problems = append(problems, fmt.Sprintf("%s does not name %s", doc, name))
	}
	return problems, nil
}
