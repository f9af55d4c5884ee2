package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourcePath matches a file of a Kubernetes module.
var sourcePath = regexp.MustCompile(`^(k8s\.io/[a-z-]+)/(.+\.go)$`)

// The sources that docs/dev/decisions.md quotes contain the quoted text, in the versions that this repository uses: client-go's from
// go.work, kube-apiserver's from the module of the server that tests use.
func TestSources(t *testing.T) {
	quotes := 0
	dirs := map[string]string{}
	for line := range strings.Lines(pages(t)["docs/dev/decisions.md"]) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			continue
		}
		file := ""
		for _, span := range codeSpan.FindAllString(cells[2], -1) {
			text := strings.Trim(span, "`")
			if m := sourcePath.FindStringSubmatch(text); m != nil {
				module := m[1]
				if _, ok := dirs[module]; !ok {
					dirs[module] = moduleDir(t, module)
				}
				file = ""
				if dirs[module] == "" {
					t.Logf("%s is not in the module cache", module)
					continue
				}
				content, err := os.ReadFile(filepath.Join(dirs[module], filepath.FromSlash(m[2])))
				if err != nil {
					t.Errorf("%s: %v", text, err)
				}
				file = string(content)
			} else if file != "" {
				quotes++
				if !strings.Contains(file, text) {
					t.Errorf("%s\nquotes %q, which is not in the file", cells[2], text)
				}
			}
		}
	}
	if quotes < 25 {
		t.Errorf("only %d quotes were checked", quotes)
	}
}

// moduleDir returns the directory of a module in the module cache, "" if it has not been downloaded.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = root
	if module == "k8s.io/apiserver" || module == "k8s.io/component-base" {
		cmd.Dir = filepath.Join(root, "tools/servers/kubernetes")
		cmd.Env = append(os.Environ(), "GOWORK=off")
	}
	out, err := cmd.Output()
	if err != nil { // offline, and the server has been built elsewhere
		t.Logf("%s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}
