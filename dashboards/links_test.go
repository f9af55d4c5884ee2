package dashboards_test

import (
	"bytes"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// Links to logs and traces exist where they are configured, with the Namespace and Pod of the selected processes.
func TestLinksToLogsAndTraces(t *testing.T) {
	logs, traces := []byte(`"url": "https://logs.example.com/?q={namespace=~\"${target_namespace:regex}\",pod=~\"${target_pod:regex}\"}"`), []byte(`"url": "https://traces.example.com"`)
	hidden := []byte(`"name": "target_pod"`)
	c := dashboards.Config{LogsURL: `https://logs.example.com/?q={namespace=~"$namespace",pod=~"$pod"}`, TracesURL: "https://traces.example.com"}
	for _, d := range all(t, c) {
		want := d.UID != dashboards.FleetUID // it has no variables for processes
		if bytes.Contains(d.JSON, logs) != want || bytes.Contains(d.JSON, hidden) != want {
			t.Errorf("%s links to logs: %v, want %v", d.UID, !want, want)
		}
		if want := bytes.Contains(d.JSON, []byte(`"exemplar": true`)); bytes.Contains(d.JSON, traces) != want {
			t.Errorf("%s links to traces: %v, want %v", d.UID, !want, want)
		}
	}
	for _, d := range all(t, dashboards.Config{}) {
		if bytes.Contains(d.JSON, hidden) || bytes.Contains(d.JSON, []byte(`"Traces"`)) {
			t.Errorf("%s has links that are not configured", d.UID)
		}
	}
}
