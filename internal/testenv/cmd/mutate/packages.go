package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// target is a package to change.
type target struct {
	path, module, root string
	files              []string
	// tested are the packages with tests to run. The first one is path.
	tested []string
}

// alsoTestedBy are other packages with tests that cover a package.
var alsoTestedBy = map[string][]string{
	"collectors":                 {"collectors/informer"},
	"collectors/controllers":     {"collectors/inspect"},
	"collectors/queue":           {"collectors/inspect"},
	"collectors/internal/core":   {"collectors", "collectors/informer"},
	"collectors/internal/stream": {"collectors/informer"},
	"collectors/internal/checks": {"collectors/informer"},
	"collectors/internal/reads":  {"collectors/informer"},
	"internal/prom":              {"alerts", "dashboards"},
	// Queries on the series of several clusters, recorded faults, and the rules of dashboard-linter.
	"alerts":     {"test/e2e"},
	"dashboards": {"test/e2e"},
	// Tests of packages that use them. Those of internal/exporter run the whole exporter on a fake cluster.
	"internal/exporter/config":    {"internal/exporter/discovery"},
	"internal/exporter/discovery": {"internal/exporter"},
	"internal/exporter/status":    {"internal/exporter"},
	"internal/exporter/web":       {"internal/exporter"},
}

// load lists a package with the go command.
func load(ctx context.Context, pattern string) (*target, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,EmbedFiles,Module", pattern).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	var p struct {
		ImportPath, Dir     string
		GoFiles, EmbedFiles []string
		Module              struct{ Path, Dir string }
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return nil, fmt.Errorf("%s is not one package: %w", pattern, err)
	}
	t := &target{path: p.ImportPath, module: p.Module.Path, root: p.Module.Dir, tested: []string{p.ImportPath}}
	for _, file := range append(p.GoFiles, p.EmbedFiles...) {
		t.files = append(t.files, filepath.Join(p.Dir, file))
	}
	relative, err := filepath.Rel(p.Module.Dir, p.Dir)
	if err != nil {
		return nil, err
	}
	for _, other := range alsoTestedBy[filepath.ToSlash(relative)] {
		t.tested = append(t.tested, p.Module.Path+"/"+other)
	}
	return t, nil
}
