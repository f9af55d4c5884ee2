package plugin_test

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	_ "github.com/informer-exporter/informer-exporter/lint/plugin"
	"github.com/informer-exporter/informer-exporter/lint/rules"
)

func TestPlugin(t *testing.T) {
	newPlugin, err := register.GetPlugin("informerlint")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(map[string]any{"disable": []string{"tombstone"}})
	if err != nil {
		t.Fatal(err)
	}
	enabled, err := p.BuildAnalyzers()
	if err != nil {
		t.Fatal(err)
	}
	if len(enabled) != len(rules.All())-1 {
		t.Errorf("%d rules are enabled, want %d", len(enabled), len(rules.All())-1)
	}
	for _, rule := range enabled {
		if rule.Name == "tombstone" {
			t.Error("tombstone is enabled")
		}
	}
	if mode := p.GetLoadMode(); mode != register.LoadModeTypesInfo {
		t.Errorf("the load mode is %q, want %q", mode, register.LoadModeTypesInfo)
	}
	if _, err := newPlugin(nil); err != nil {
		t.Errorf("without settings: %v", err)
	}
	if _, err := newPlugin(map[string]any{"disable": []string{"tombstones"}}); err == nil {
		t.Error("an unknown rule is accepted")
	}
}
