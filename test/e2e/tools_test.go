package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/generate"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// `make check` checks the files under deploy and runs the promtool tests of the alerts. These tests check the output of the
// running programs, and files generated with a custom configuration.

// TestPromtoolLikesTheMetrics lints the metrics of both programs.
func TestPromtoolLikesTheMetrics(t *testing.T) {
	c := theChain(t)
	for program, url := range map[string]string{"exporter": c.ExporterURL, "load generator": c.LoadURL} {
		text := fetch(t, url+"/metrics")
		if !strings.Contains(text, "\nk8s_informer_synced{") {
			t.Errorf("%s serves something else:\n%s", program, text)
		}
		if out, err := tool(t, stack.PromtoolProgram, text, "check", "metrics"); err != nil || out != "" {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
	bad := "# TYPE informers_total gauge\ninformers_total 1\n"
	if out, err := tool(t, stack.PromtoolProgram, bad, "check", "metrics"); err == nil {
		t.Errorf("promtool does not report a gauge without help and with the suffix _total: %s", out)
	}
}

func TestPromtoolLikesTheRules(t *testing.T) {
	rules := filepath.Join(theChain(t).Generated, "prometheus", "rules.yaml")
	if out, err := tool(t, stack.PromtoolProgram, "", "check", "rules", "--lint=all", "--lint-fatal", rules); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAmtoolLikesTheRoutes(t *testing.T) {
	config := filepath.Join(theChain(t).Generated, "alertmanager", "alertmanager.yaml")
	if out, err := tool(t, stack.AmtoolProgram, "", "check-config", config); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for severity, want := range map[string]string{"page": "page", "ticket": "ticket", "info": "info", "none": "ticket"} {
		out, err := tool(t, stack.AmtoolProgram, "", "config", "routes", "test", "--config.file="+config, "severity="+severity)
		if err != nil || strings.TrimSpace(out) != want {
			t.Errorf("severity %s goes to %q, want %s (%v)", severity, out, want, err)
		}
	}
}

// TestToolsLikeEverySetting checks the files generated from a configuration with all settings that change rules and routes:
// the example in the generator's documentation.
func TestToolsLikeEverySetting(t *testing.T) {
	files, err := generate.Files(documentedConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := generate.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	if out, err := tool(t, stack.PromtoolProgram, "", "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(dir, "prometheus", "rules.yaml")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	routes := filepath.Join(dir, "alertmanager", "alertmanager.yaml")
	for labels, want := range map[string]string{
		"team=platform severity=warning": "platform-ticket", "team=platform severity=critical": "page", "team=shop severity=warning": "ticket",
		"alertname=Watchdog severity=none team=shop": "watchdog",
	} {
		args := append([]string{"config", "routes", "test", "--config.file=" + routes}, strings.Fields(labels)...)
		if out, err := tool(t, stack.AmtoolProgram, "", args...); err != nil || strings.TrimSpace(out) != want {
			t.Errorf("%s goes to %q, want %s (%v)", labels, out, want, err)
		}
	}
}

// documentedConfig returns the example in docs/generator.md.
func documentedConfig(t *testing.T) generate.Config {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "generator.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	config, err := generate.ParseConfig([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// tool runs one of the pinned tools and returns its output.
func tool(t *testing.T, name, stdin string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout) // it may have to be built
	defer cancel()
	path, err := stack.Binary(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// fetch returns a page in the text format, which promtool requires.
func fetch(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}
