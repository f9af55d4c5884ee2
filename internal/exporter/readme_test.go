package exporter

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

// TestReadmeConfigurations loads every configuration that the README shows.
func TestReadmeConfigurations(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(readme, -1)
	if len(found) != 1 {
		t.Fatalf("%d configurations in the README, want 1", len(found))
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
