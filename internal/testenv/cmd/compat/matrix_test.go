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

// go.mod requires the oldest supported version, so that `go get` upgrades nothing; go.work builds with the newest.
func TestModuleVersions(t *testing.T) {
	oldest, newest := matrix[len(matrix)-1].clientGo, matrix[0].clientGo
	goMod, goWork := read(t, "go.mod"), read(t, "go.work")
	for _, name := range kubernetes {
		if want := "k8s.io/" + name + " " + oldest; !strings.Contains(goMod, want+"\n") && !strings.Contains(goMod, want+" // indirect\n") {
			t.Errorf("go.mod does not require %s", want)
		}
		if want := fmt.Sprintf("k8s.io/%[1]s => k8s.io/%[1]s %s\n", name, newest); !strings.Contains(goWork, want) {
			t.Errorf("go.work does not have %s", want)
		}
	}
}
