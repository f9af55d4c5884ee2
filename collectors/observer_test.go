package collectors_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
)

func TestNewRejectsWhatCannotWork(t *testing.T) {
	reg := prometheus.NewRegistry()
	if _, err := collectors.New(reg, collectors.Options{Name: "twice"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reg     prometheus.Registerer
		options collectors.Options
		says    string
	}{
		"no name":          {reg, collectors.Options{}, "Options.Name"},
		"negative memory":  {reg, collectors.Options{Name: "x", RememberedEvents: -1}, "Options.RememberedEvents"},
		"negative check":   {reg, collectors.Options{Name: "x", Checks: collectors.Checks{Freshness: -1}}, "Options.Checks.Freshness"},
		"negative audit":   {reg, collectors.Options{Name: "x", Checks: collectors.Checks{Audit: -1}}, "Options.Checks.Audit"},
		"negative sampler": {reg, collectors.Options{Name: "x", Checks: collectors.Checks{Mutations: -1}}, "Options.Checks.Mutations"},
		"negative limit":   {reg, collectors.Options{Name: "x", Limits: collectors.Limits{Indexes: -1}}, "Options.Limits.Indexes"},
		"negative lag":     {reg, collectors.Options{Name: "x", Objectives: collectors.Objectives{SyncLag: -1}}, "Options.Objectives"},
		"negative event":   {reg, collectors.Options{Name: "x", Objectives: collectors.Objectives{EventLag: -1}}, "Options.Objectives"},
		"negative retries": {reg, collectors.Options{Name: "x", Objectives: collectors.Objectives{ItemRetries: -1}}, "Options.Objectives"},
		"no such detail":   {reg, collectors.Options{Name: "x", Detail: "little"}, "Options.Detail"},
		"omitted metric":   {reg, collectors.Options{Name: "x", Omit: []string{"workqueue_depth"}}, "workqueue_depth"},
		"no registry":      {nil, collectors.Options{Name: "x"}, "registerer"},
		"same name twice":  {reg, collectors.Options{Name: "twice"}, `"twice"`},
	} {
		if _, err := collectors.New(c.reg, c.options); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := collectors.New(reg, collectors.Options{Name: "another"}); err != nil {
		t.Errorf("two names on one registry: %v", err)
	}
}
