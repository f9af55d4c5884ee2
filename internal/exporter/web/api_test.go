package web

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// The example in docs/exporter.md has every field, and no others.
func TestInformersAPIIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/exporter.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	decoder := json.NewDecoder(strings.NewReader(example))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&InformersResponse{}); err != nil {
		t.Fatalf("docs/exporter.md: %v", err)
	}
	var documented any
	if err := json.Unmarshal([]byte(example), &documented); err != nil {
		t.Fatal(err)
	}
	var visit func(prefix string, of reflect.Type, value any)
	visit = func(prefix string, of reflect.Type, value any) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
			return
		}
		if list, ok := value.([]any); ok {
			value = list[0]
		}
		fields, _ := value.(map[string]any)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			field, ok := fields[name]
			if !ok {
				t.Errorf("docs/exporter.md does not have %s", prefix+name)
			}
			visit(prefix+name+".", of.Field(i).Type, field)
		}
	}
	visit("", reflect.TypeFor[InformersResponse](), documented)
}

// Each field has the value of the status. Times are in UTC and milliseconds; those of events that never happened are null.
func TestInformerResponse(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("", 3600))
	s := status.Informer{
		Kind: kinds.Kind{Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true}, State: status.StateSynced, Pending: 3,
		Status: informer.Status{
			ID: informer.ID{Group: "apps", Resource: "deployments", Namespace: "shop"}, Synced: true, Connected: true, Objects: 4, Relists: 5, Failures: 6, Degraded: true,
			SyncLag: 7 * time.Second, LastSync: 8 * time.Second, WatchOpened: now.Add(-9 * time.Second), LastEvent: now.Add(time.Second), // clocks differ
			LastAudit: informer.AuditStatus{Result: "different", At: now.Add(-10 * time.Second), Differences: 11},
		},
	}
	at := func(d time.Duration) *time.Time {
		when := time.Date(2026, 1, 2, 2, 4, 5, 6_000_000, time.UTC).Add(d)
		return &when
	}
	seconds := func(n float64) *float64 { return &n }
	want := InformerResponse{
		InformerType: "deployments.apps", Group: "apps", Version: "v1", Resource: "deployments", Namespaced: true, Namespace: "shop", State: "synced", Synced: true,
		WatchConnected: true, WatchOpened: at(-9 * time.Second), WatchAgeSeconds: seconds(9), Objects: 4, PendingEvents: 3, SyncLagSeconds: 7, Degraded: true, Failures: 6,
		LastSyncSeconds: 8, LastEvent: at(time.Second), LastEventAgeSeconds: seconds(0), Relists: 5,
		LastAudit: &AuditResponse{Result: "different", Time: at(-10 * time.Second), AgeSeconds: seconds(10), Differences: 11},
	}
	if got := newInformerResponse(s, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := newInformerResponse(status.Informer{}, now); got.WatchOpened != nil || got.WatchAgeSeconds != nil || got.LastEvent != nil || got.LastEventAgeSeconds != nil || got.LastAudit != nil {
		t.Errorf("before anything happened: %+v", got)
	}
}
