package generate_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/generate"
)

const deploy = "../../deploy"

func files(t *testing.T, config string) map[string][]byte {
	t.Helper()
	c, err := generate.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	f, err := generate.Files(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The committed files are those that are generated, without stale ones.
func TestDeployIsUpToDate(t *testing.T) {
	want := files(t, "")
	for path, content := range want {
		got, err := os.ReadFile(filepath.Join(deploy, path))
		if err != nil {
			t.Errorf("%v; run make generate", err)
		} else if !bytes.Equal(got, content) {
			t.Errorf("deploy/%s is stale; run make generate", path)
		}
	}
	for _, dir := range []string{"grafana", "prometheus", "alertmanager", "kubernetes", "runbooks"} {
		err := filepath.WalkDir(filepath.Join(deploy, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(deploy, path)
			if _, ok := want[filepath.ToSlash(rel)]; !ok {
				t.Errorf("deploy/%s is not generated", rel)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Links of alerts are absolute and lead to existing files at one ref of the repository.
func TestLinksOfTheDefaults(t *testing.T) {
	var rules struct{ Groups []alerts.Group }
	f := files(t, "")
	if err := yaml.Unmarshal(f["prometheus/rules.yaml"], &rules); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`^https://github\.com/informer-exporter/informer-exporter/blob/(main|v\d+\.\d+\.\d+[-.a-z0-9]*)/deploy/(.+)$`)
	refs := map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			found := link.FindStringSubmatch(r.Annotations["runbook_url"])
			if found == nil || f[found[2]] == nil {
				t.Errorf("%s: runbook_url %q", r.Alert, r.Annotations["runbook_url"])
				continue
			}
			refs[found[1]] = true
			if address, ok := r.Annotations["dashboard_url"]; ok {
				t.Errorf("%s: dashboard_url %q, although the URL of Grafana is unknown", r.Alert, address)
			}
		}
	}
	for _, found := range regexp.MustCompile(`/blob/([^/]+)/`).FindAllSubmatch(bytes.Join(slices.Collect(maps.Values(f)), nil), -1) {
		refs[string(found[1])] = true
	}
	if len(refs) != 1 {
		t.Errorf("links lead to %v", refs)
	}
}

func TestSameBytesEachTime(t *testing.T) {
	first, second := files(t, ""), files(t, "")
	for path := range first {
		if !bytes.Equal(first[path], second[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}
