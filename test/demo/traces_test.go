//go:build unix

package demo_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// slow is the duration of a slow handler.
const slow = 300 * time.Millisecond

// exemplarLeadsToTrace follows the path of a user: from a slow event in a histogram, through its exemplar in Prometheus and the
// data source that is provisioned in Grafana, to the trace of this event.
func exemplarLeadsToTrace(t *testing.T, c *chain.Chain) {
	begin := time.Now()
	c.SlowHandlers(slow)
	var found stack.Exemplar
	var series map[string]string
	await.NoError(t, "exemplar of a slow handler", func() error {
		all, err := c.Prometheus.Exemplars(t.Context(), `k8s_informer_handler_duration_seconds_bucket{name="load"}`, begin)
		for _, s := range all {
			for _, e := range s.Exemplars {
				if e.Value >= slow.Seconds() && e.Labels["trace_id"] != "" {
					found, series = e, s.Series
					return nil
				}
			}
		}
		if err == nil {
			err = fmt.Errorf("none among the exemplars of %d series", len(all))
		}
		return err
	})
	c.SlowHandlers(0)

	await.NoError(t, "trace behind the data source", func() error {
		var answer struct {
			Data []struct {
				TraceID string `json:"traceID"`
			} `json:"data"`
		}
		// The request of Grafana's data source for Jaeger.
		resp, err := http.Get(tracesURL(t, c) + "/api/traces/" + found.Labels["trace_id"])
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			return err
		}
		if len(answer.Data) != 1 || answer.Data[0].TraceID != found.Labels["trace_id"] {
			return fmt.Errorf("%s: got %+v, want the trace %s", resp.Status, answer.Data, found.Labels["trace_id"])
		}
		return nil
	})
	spans, err := c.Jaeger.Trace(t.Context(), found.Labels["trace_id"])
	if err != nil || len(spans) == 0 {
		t.Fatalf("got %v, %v", spans, err)
	}
	event := spans[0]
	if want := "informer.deliver " + series["informer_type"]; event.Name != want || event.Service != "load" || event.Tags["informer.handler"] != series["handler"] {
		t.Errorf("got the trace of %+v, want the span %s of handler %s", event, want, series["handler"])
	}
	if event.Duration < slow {
		t.Errorf("the span lasts %v, want at least %v", event.Duration, slow)
	}
}

// tracesURL returns the URL of the generated data source that exemplars link to.
func tracesURL(t *testing.T, c *chain.Chain) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.Generated, "grafana", "provisioning", "datasources", "prometheus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var provisioned struct {
		Sources []struct {
			UID, URL string
			JSON     struct {
				Destinations []struct{ Name, DatasourceUID string } `json:"exemplarTraceIdDestinations"`
			} `json:"jsonData"`
		} `json:"datasources"`
	}
	if err := yaml.Unmarshal(content, &provisioned); err != nil {
		t.Fatal(err)
	}
	for _, d := range provisioned.Sources[0].JSON.Destinations {
		for _, s := range provisioned.Sources {
			if d.Name == "trace_id" && s.UID == d.DatasourceUID {
				return s.URL
			}
		}
	}
	t.Fatalf("no data source for the label trace_id in\n%s", content)
	return ""
}
