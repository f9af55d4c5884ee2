package dashboards_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// Each value of a label that legends begin with has one color on all dashboards.
func TestColorsOfLabelValues(t *testing.T) {
	var m struct {
		Panels []struct {
			FieldConfig struct {
				Overrides []struct {
					Matcher    struct{ ID, Options any }
					Properties []struct{ ID string }
				}
			}
		}
	}
	colored := map[string]bool{}
	for _, d := range all(t, dashboards.Config{}) {
		if err := json.Unmarshal(flat(t, d), &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Panels {
			for _, o := range p.FieldConfig.Overrides {
				if pattern, ok := o.Matcher.Options.(string); ok && o.Matcher.ID == "byRegexp" && o.Properties[0].ID == "color" {
					colored[strings.Trim(pattern, "/")] = true
				}
			}
		}
	}
	for _, metric := range catalog.All() {
		for _, l := range metric.Labels {
			if !slices.Contains([]string{"result", "reason", "type", "state", "event", "error_type", "cause"}, l.Name) {
				continue
			}
			for _, value := range l.Values {
				n := 0
				for pattern := range colored {
					if regexp.MustCompile(pattern).MatchString(value + " pods") {
						n++
					}
				}
				if n != 1 {
					t.Errorf("%s: the value %s of %s has %d colors, want one", metric.Name, value, l.Name, n)
				}
			}
		}
	}
}

// The buckets of client-go's queue histograms grow by a factor of ten: only the share above a bound is exact.
func TestNoQuantilesOfQueues(t *testing.T) {
	for _, d := range all(t, dashboards.Config{}) {
		if found := regexp.MustCompile(`histogram_quantile\([^\n]*workqueue_[a-z_]+`).Find(d.JSON); found != nil {
			t.Errorf("%s: %s", d.UID, found)
		}
	}
}
