package deploy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-jsonnet"
	"sigs.k8s.io/yaml"
)

// TestMixin proves that a monitoring mixin of deploy/ has every rule and every dashboard of it, unchanged.
func TestMixin(t *testing.T) {
	const deploy = "../../deploy/"
	vm := jsonnet.MakeVM()
	out, err := vm.EvaluateAnonymousSnippet("", `
		local mixin = import '../../deploy/mixin.libsonnet';
		{ alerts: mixin.prometheusAlerts, rules: mixin.prometheusRules, dashboards: mixin.grafanaDashboards }`)
	if err != nil {
		t.Fatal(err)
	}
	type groups struct {
		Groups []struct {
			Name  string
			Rules []map[string]any
		}
	}
	var mixin struct {
		Alerts, Rules groups
		Dashboards    map[string]any
	}
	if err := json.Unmarshal([]byte(out), &mixin); err != nil {
		t.Fatal(err)
	}

	data, err := os.ReadFile(deploy + "prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file groups
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	byGroup := func(all groups, kind string) map[string][]any {
		rules := map[string][]any{}
		for _, g := range all.Groups {
			for _, r := range g.Rules {
				if r[kind] != nil {
					rules[g.Name] = append(rules[g.Name], r)
				}
			}
		}
		return rules
	}
	for kind, got := range map[string]groups{"alert": mixin.Alerts, "record": mixin.Rules} {
		want := byGroup(file, kind)
		if len(want) == 0 || !reflect.DeepEqual(byGroup(got, kind), want) {
			t.Errorf("the mixin does not have each %s rule of prometheus/rules.yaml, and only these", kind)
		}
	}

	paths, err := filepath.Glob(deploy + "grafana/dashboards/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(mixin.Dashboards[filepath.Base(path)], want) {
			t.Errorf("grafana/dashboards/%s is not in the mixin: add it to mixin.libsonnet", filepath.Base(path))
		}
	}
	if len(mixin.Dashboards) != len(paths) {
		t.Errorf("the mixin has %d dashboards, want %d", len(mixin.Dashboards), len(paths))
	}
}
