package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// make vuln fails if the vulnerability database is not reachable, unless VULN=skip is set.
func TestVulnWithoutItsDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("builds govulncheck")
	}
	module := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n"} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		setting, output string
		fails           bool
	}{
		{"VULN=", "set VULN=skip", true},
		{"VULN=skip", "SKIPPED", false},
	} {
		cmd := exec.CommandContext(t.Context(), "make", "vuln", "MODULES="+module, tc.setting)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOVULNDB=http://127.0.0.1:1")
		output, err := cmd.CombinedOutput()
		if err != nil != tc.fails || !strings.Contains(string(output), tc.output) {
			t.Errorf("%s: error %v\n%s", tc.setting, err, output)
		}
	}
}
