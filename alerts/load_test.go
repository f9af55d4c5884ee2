package alerts

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// The files load, and a mistake in one of them is an error that names the file, the rule and the field.
func TestLoad(t *testing.T) {
	if _, err := load(files); err != nil {
		t.Fatal(err)
	}
	const lag, runbook = "rules/lag.yaml", "runbooks/InformerSyncLagHigh.md"
	for _, tt := range []struct{ file, old, with, want string }{
		{lag, "objective: sync_lag", "objective: sync_lags", `rules/lag.yaml: rule InformerSyncLagHigh: objective: "sync_lags" is not the ID`},
		{lag, "objective: sync_lag", "objective: queue_depth", `rules/lag.yaml: rule InformerSyncLagHigh: objective: queue_depth is about a metric of the group upstream`},
		{lag, "> <<threshold>>", "> <<treshold>>", "rules/lag.yaml: rule InformerSyncLagHigh: expr: <<treshold>> with 0 arguments is neither"},
		{lag, "> <<threshold>>", "> <<threshold", "rules/lag.yaml: rule InformerSyncLagHigh: expr: << without >>"},
		{lag, "> <<threshold>>", "> <<threshold 5m>>", "rules/lag.yaml: rule InformerSyncLagHigh: expr: <<threshold>> with 1 arguments is neither"},
		{lag, "> <<threshold>>", "> <<occurred `x{@, <<no>>}`>>", "rules/lag.yaml: rule InformerSyncLagHigh: expr: <<no>> with 0 arguments is neither"},
		{lag, "keep_firing_for:", "keepFiringFor:", `rules/lag.yaml: rule InformerSyncLagHigh: json: unknown field "keepFiringFor"`},
		{lag, "summary: '<<informer>> is {{", "summary: '<<informers>> is {{", "rules/lag.yaml: rule InformerSyncLagHigh: annotations.summary: <<informers>>"},
		{lag, "burn_rate: 3", "burn_rate: 4", "rules/lag.yaml: rule InformerEventLagBurn: burn_rate: want one of the 4 of event_lag"},
		{lag, "name: lag.long", "name: long", `rules/lag.yaml: group "long" does not have the name of the file`},
		{lag, "alert: InformerSyncLagHigh", "alert: InformerLag", "runbooks/InformerLag.md: "},
		{lag, "alert: InformerSyncLagHigh", "alert: InformerLag", "runbooks/InformerSyncLagHigh.md: no rule has this alert"},
		{runbook, "**Resolves** when", "It resolves when", "runbooks/InformerSyncLagHigh.md: want a front matter, "},
		{runbook, "dashboard: informers", "dashboard: informer", `runbooks/InformerSyncLagHigh.md: dashboard: "informer" is not`},
		{runbook, "unless: ", "Unles: ", `runbooks/InformerSyncLagHigh.md: error unmarshaling JSON: while decoding JSON: json: unknown field "Unles"`},
		{runbook, "more than <<objective>>", "more than <<goal>>", "runbooks/InformerSyncLagHigh.md: <<goal>>"},
		{"fragments.yaml", "<<pod>>", "<<pods>>", "<<pods>> with 0 arguments is neither"},
		{"inhibitions.yaml", "equal: [cluster]", "equals: [cluster]", `inhibitions.yaml: json: unknown field "equals"`},
	} {
		changed := fstest.MapFS{}
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := fs.ReadFile(files, path)
			changed[path] = &fstest.MapFile{Data: raw}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		text := string(changed[tt.file].Data)
		if !strings.Contains(text, tt.old) {
			t.Fatalf("%s lacks %q", tt.file, tt.old)
		}
		changed[tt.file].Data = []byte(strings.Replace(text, tt.old, tt.with, 1))
		if _, err := load(changed); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q: error %v, want one with %q", tt.file, tt.with, err, tt.want)
		}
	}
}
