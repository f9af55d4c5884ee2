// Package plugin is the module plugin informerlint of golangci-lint.
package plugin

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/rules"
)

func init() { register.Plugin("informerlint", New) }

// Settings are the settings of the plugin in the configuration of golangci-lint.
type Settings struct {
	// Disable are the names of rules that do not run.
	Disable []string `json:"disable"`
}

// New returns the plugin with its settings. It fails if they name an unknown rule.
func New(raw any) (register.LinterPlugin, error) {
	settings, err := register.DecodeSettings[Settings](raw)
	if err != nil {
		return nil, err
	}
	enabled := rules.All()
	for _, name := range settings.Disable {
		n := len(enabled)
		enabled = slices.DeleteFunc(enabled, func(rule *analysis.Analyzer) bool { return rule.Name == name })
		if len(enabled) == n {
			return nil, fmt.Errorf("disable: %q is not a rule of informerlint", name)
		}
	}
	return plugin{enabled}, nil
}

type plugin struct{ rules []*analysis.Analyzer }

// BuildAnalyzers returns the enabled rules.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p.rules, nil }

// GetLoadMode asks for type information.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
