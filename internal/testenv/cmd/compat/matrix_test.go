package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../../.."

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// minor returns the minor version of a version, such as v0.37.
func minor(version string) string { return version[:strings.LastIndex(version, ".")] }

// The README lists the versions of the matrix.
func TestREADME(t *testing.T) {
	var want []string
	for _, r := range matrix {
		want = append(want, fmt.Sprintf("| %s | %s |", minor(r.clientGo), minor(r.controllerRuntime)))
	}
	_, section, found := strings.Cut(read(t, "README.md"), "\n## Compatibility\n")
	if !found {
		t.Fatal("README.md has no section Compatibility")
	}
	if got := regexp.MustCompile(`(?m)^\| v[\d.]+ \| v[\d.]+ \|`).FindAllString(section, -1); !slices.Equal(got, want) {
		t.Errorf("README.md lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// go.mod requires the oldest supported version, so that `go get` upgrades nothing; the exporter, and thereby go.work, the newest.
func TestModuleVersions(t *testing.T) {
	oldest, newest := matrix[len(matrix)-1].clientGo, matrix[0].clientGo
	library, exporter := read(t, "go.mod"), read(t, "cmd/exporter/go.mod")
	for _, name := range kubernetes {
		if want := "\tk8s.io/" + name + " " + oldest + "\n"; !strings.Contains(library, want) {
			t.Errorf("go.mod does not have %s", want)
		}
		if want := "\tk8s.io/" + name + " " + newest + "\n"; !strings.Contains(exporter, want) {
			t.Errorf("cmd/exporter/go.mod does not have %s", want)
		}
	}
}

// The README lists the versions of the API server, and the module of each pins a version of that minor.
func TestServers(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "README.md"), "\n## Compatibility\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want := "API servers of Kubernetes " + strings.Join(servers[:len(servers)-1], ", ") + " and " + servers[len(servers)-1] + " are supported"
	if !strings.Contains(strings.ReplaceAll(section, "\n", " "), want) {
		t.Errorf("README.md does not have %q", want)
	}
	pinned := 0
	for _, minor := range servers {
		goMod := filepath.Join("tools/servers/kubernetes-"+minor, "go.mod")
		if _, err := os.Stat(filepath.Join(root, goMod)); err != nil {
			goMod, pinned = "tools/servers/kubernetes/go.mod", pinned+1
		}
		if !strings.Contains(read(t, goMod), "\tk8s.io/kubernetes v"+minor+".") {
			t.Errorf("%s does not pin %s", goMod, minor)
		}
	}
	if pinned != 1 {
		t.Errorf("%d versions are pinned by tools/servers/kubernetes, want 1", pinned)
	}
}

// Every test that runs with each API server exists: go test does not fail if -run matches nothing.
func TestSuites(t *testing.T) {
	for _, s := range suites {
		files, err := filepath.Glob(filepath.Join(root, s.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(content)
		}
		for _, name := range s.tests {
			if !strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s has no %s", s.pkg, name)
			}
		}
	}
}

// CI tests every version.
func TestWorkflow(t *testing.T) {
	var want []string
	for _, r := range matrix {
		want = append(want, minor(r.clientGo))
	}
	for _, s := range servers {
		want = append(want, `"`+s+`"`)
	}
	slices.Sort(want)
	m := regexp.MustCompile(`(?m)^        version: \[(.*)\]$`).FindStringSubmatch(read(t, ".github/workflows/ci.yml"))
	if m == nil {
		t.Fatal("ci.yml has no matrix of versions")
	}
	got := strings.Split(m[1], ", ")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("ci.yml tests %s, want %s", got, want)
	}
}
