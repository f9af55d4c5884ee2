package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// pages returns every Markdown page, except runbooks, by its path below the root of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(path string) {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(content)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/dev/*.md", "deploy/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			add(filepath.ToSlash(relative))
		}
	}
	if len(all) < 10 {
		t.Fatalf("only %d pages were found", len(all))
	}
	return all
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchors returns the anchors of a page, as GitHub generates them from headings.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case strings.ContainsRune("-_", r), '0' <= r && r <= '9', 'a' <= r && r <= 'z':
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all = append(all, anchor)
	}
	return all
}

func TestLinks(t *testing.T) {
	for path, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			content := page
			if target != "" {
				file := filepath.Join(root, filepath.Dir(path), target)
				info, err := os.Stat(file)
				if err != nil {
					t.Errorf("%s links to %s, which does not exist", path, m[1])
					continue
				}
				if info.IsDir() || anchor == "" {
					continue
				}
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				content = string(raw)
			}
			if !slices.Contains(anchors(content), anchor) {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

// The index lists every page.
func TestIndex(t *testing.T) {
	all := pages(t)
	for path := range all {
		name, ok := strings.CutPrefix(path, "docs/")
		if ok && name != "README.md" && !strings.Contains(all["docs/README.md"], "("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(pages(t)["README.md"], "\n"); lines > 250 {
		t.Errorf("README.md has %d lines, want at most 250", lines)
	}
}

var (
	makeTarget   = regexp.MustCompile("(?m)(?:^|`)make ((?:[a-z0-9-]+ ?)+)")
	makefileRule = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	goRun        = regexp.MustCompile(`go run (\./\S+)(?: ([a-z-]+))?`)
	kubectlPath  = regexp.MustCompile(`kubectl apply -[kf] (\S+)`)
	helmPath     = regexp.MustCompile(`helm upgrade --install \S+ (\S+)`)
	composePath  = regexp.MustCompile(`docker compose --file (\S+)`)
)

// Every command of the documentation names a target, a program or a file that exists.
func TestCommands(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range makefileRule.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, m[1])
	}
	for path, page := range pages(t) {
		for _, m := range makeTarget.FindAllStringSubmatch(page, -1) {
			for target := range strings.FieldsSeq(m[1]) {
				if !slices.Contains(targets, target) {
					t.Errorf("%s: there is no make %s", path, target)
				}
			}
		}
		for _, pattern := range []*regexp.Regexp{goRun, kubectlPath, helmPath, composePath} {
			for _, m := range pattern.FindAllStringSubmatch(page, -1) {
				if _, err := os.Stat(filepath.Join(root, strings.TrimRight(m[1], "`"))); err != nil {
					t.Errorf("%s: %s: there is no %s", path, m[0], m[1])
				}
			}
		}
	}
}

var (
	fuzzTarget = regexp.MustCompile(`-fuzz '?(Fuzz\w+)(?:\$\$')? .* (\./\S+)\n`)
	fuzzFunc   = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
)

// TestFuzz: make fuzz runs each fuzz test, and nothing else. Go does not fail if -fuzz matches no test of a package.
func TestFuzz(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var run, exist []string
	for _, m := range fuzzTarget.FindAllStringSubmatch(string(makefile), -1) {
		run = append(run, m[2]+" "+m[1])
	}
	for path, source := range sources(t) {
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fuzzFunc.FindAllStringSubmatch(source, -1) {
			exist = append(exist, "./"+filepath.ToSlash(dir)+" "+m[1])
		}
	}
	slices.Sort(run)
	slices.Sort(exist)
	if !slices.Equal(run, exist) || len(exist) == 0 {
		t.Errorf("make fuzz runs\n%s\nwant\n%s", strings.Join(run, "\n"), strings.Join(exist, "\n"))
	}
}

// sources returns the content of every Go file of the repository, by path.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		content, err := os.ReadFile(path)
		all[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
