package docs

import (
	"net/http"
	"net/http/httptest"
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
	// This server accepts HEAD, so that govulncheck creates its client, and fails all other requests.
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(failing.Close)
	for _, database := range []string{"http://127.0.0.1:1", failing.URL} {
		for _, tc := range []struct {
			setting, output string
			fails           bool
		}{
			{"VULN=", "set VULN=skip", true},
			{"VULN=skip", "SKIPPED", false},
		} {
			cmd := exec.CommandContext(t.Context(), "make", "vuln", "MODULES="+module, "VULNDB="+database, tc.setting)
			cmd.Dir = root
			output, err := cmd.CombinedOutput()
			if err != nil != tc.fails || !strings.Contains(string(output), tc.output) {
				t.Errorf("%s %s: error %v\n%s", database, tc.setting, err, output)
			}
		}
	}
}
