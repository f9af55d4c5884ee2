package config

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

// TestDocumentedConfigurations loads the configuration in docs/exporter.md.
func TestDocumentedConfigurations(t *testing.T) {
	page, err := os.ReadFile("../../../docs/exporter.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d configurations in docs/exporter.md, want 1", len(found))
	}
	config, err := Parse(found[0][1])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range config.Entries() {
		names = append(names, e.Name)
	}
	if len(config.Namespaces) != 2 || !slices.Contains(names, "certificates.cert-manager.io") || !slices.Contains(names, "pods") ||
		!slices.Contains(names, "secrets") || config.LabelSelector == "" || len(config.ExcludeResources) != 1 {
		t.Errorf("namespaces %v, kinds %v", config.Namespaces, names)
	}
	if freshness, audit := config.Checks.Intervals(); freshness != defaultFreshness || audit != time.Hour {
		t.Errorf("checks every %v and %v", freshness, audit)
	}
}
