package alerts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestInputSeriesBeginAsInPrograms verifies that the tests of rules have no series at 0 that programs create only with the first
// increase: such a series begins above 0, which increase does not count.
func TestInputSeriesBeginAsInPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var suite struct {
			Tests []struct {
				Name  string `json:"name"`
				Input []struct {
					Series string `json:"series"`
					Values string `json:"values"`
				} `json:"input_series"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal(content, &suite); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, test := range suite.Tests {
			for _, s := range test.Input {
				if beginsAtZero.MatchString(s.Values) && bornAboveZero(s.Series) {
					t.Errorf("%s: %s: %s begins at 0", file, test.Name, s.Series)
				}
			}
		}
	}
}

// beginsAtZero matches values that begin with 0.
var beginsAtZero = regexp.MustCompile(`^(_\S*\s+)*0(\D|$)`)

// bornAboveZero reports whether programs have the series only after its first increase.
func bornAboveZero(series string) bool {
	name, _, _ := strings.Cut(series, "{")
	if slices.Contains([]string{"rest_client_requests_total", "apiserver_terminated_watchers_total"}, name) {
		return !strings.Contains(series, `code="200"`)
	}
	return metricstest.NeverAtZero(name, func(label string) string {
		_, rest, _ := strings.Cut(series, label+`="`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	})
}
