package exporter

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

// TestDocumentedConfigurations loads every configuration that docs/exporter.md shows.
func TestDocumentedConfigurations(t *testing.T) {
	page, err := os.ReadFile("../../docs/exporter.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d configurations in docs/exporter.md, want 1", len(found))
	}
	config, err := ParseConfig(found[0][1])
	if err != nil {
		t.Fatal(err)
	}
	kinds := named(config)
	if len(config.Namespaces) != 2 || !slices.Contains(types(kinds), "certificates.cert-manager.io") || !slices.Contains(types(kinds), "pods") ||
		!slices.Contains(types(kinds), "secrets") || config.LabelSelector == "" || len(config.ExcludeResources) != 1 {
		t.Errorf("namespaces %v, kinds %v", config.Namespaces, types(kinds))
	}
	if checks := config.Checks.library(); checks.Freshness != defaultFreshness || checks.Audit != time.Hour {
		t.Errorf("checks %+v", checks)
	}
}
