package e2e_test

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// quietFaults are faults without an alert. Each expression is true at some time during its fault, which distinguishes the
// recording from one without a fault. No rule reads bookmarks: their recording only shows that no alert fires while only
// bookmarks arrive.
var quietFaults = map[string]string{
	"TestRelistOfUnchangedObjects": `increase(k8s_informer_relists_total{reason="expired"}[5m]) > 0`,
	"TestServerTimeout":            `increase(k8s_informer_watches_total[15m]) > 0 unless increase(k8s_informer_list_duration_seconds_count[15m]) > 0`,
	"TestBookmarksOnly":            `increase(k8s_informer_event_lag_seconds_count[10m]) == 0 and k8s_informer_watch_connected == 1`,
	"TestHalfOpenConnection":       `increase(k8s_informer_event_lag_seconds_count{informer_type="configmaps"}[2m]) == 0 and k8s_informer_watch_connected == 1`,
	"TestStreamingListRejected": `k8s_informer_sync_errors_total{error_type="other"} == 1
		and ignoring (error_type) k8s_informer_synced == 1`,
	"TestVersionsThatAreNoNumbers": `increase(k8s_informer_handler_duration_seconds_count[2m]) > 0
		and on (job, informer_type) increase(k8s_informer_event_lag_seconds_count[2m]) == 0`,
	"TestThousandInformers": `increase(k8s_informer_list_duration_seconds_count[5m]) > 900`,
	"TestHandlerRemovedWhileBusy": `increase(k8s_informer_handler_duration_seconds_count{handler="late"}[30s]) == 0
		and on (job) increase(k8s_informer_handler_duration_seconds_count{handler="main"}[30s]) > 0`,
	"TestLateHandler": `k8s_informer_handler_duration_seconds_count{handler="late"} > 20`,
	"TestTransformThatStripsTheVersion": `sum by (job, informer_type) (increase(k8s_informer_handler_duration_seconds_count[2m]))
		> 1.2 * sum by (job, informer_type) (increase(k8s_informer_event_lag_seconds_count[2m]))`,
}

func TestQuietFaultsAreInTheirRecordings(t *testing.T) {
	for _, row := range faultTable(t) {
		shows, quiet := quietFaults[row.test]
		if alerts := len(row.meanwhile) + len(row.afterwards); quiet != (alerts == 0) {
			t.Errorf("%s: %d alerts fire, and quietFaults has %q", row.test, alerts, shows)
		}
		if !quiet {
			continue
		}
		t.Run(row.test, func(t *testing.T) {
			t.Parallel()
			if r := recorded(t, row.test); !holdsDuring(t, r, shows) {
				t.Errorf("never true during the fault: %s", shows)
			}
		})
	}
}

// holdsDuring reports whether an expression has a result at some time during the fault of a recording.
func holdsDuring(t *testing.T, r recording.Recording, expr string) bool {
	t.Helper()
	data := inMemory(r)
	for step := r.Phase(recording.During); step < r.Phase(recording.After); step++ {
		query, err := replays.NewInstantQuery(t.Context(), data, nil, expr, r.Start.Add(time.Duration(step)*r.Interval))
		if err != nil {
			t.Fatal(err)
		}
		vector, err := query.Exec(t.Context()).Vector()
		query.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(vector) > 0 {
			return true
		}
	}
	return false
}
