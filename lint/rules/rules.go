// Package rules lists the rules.
package rules

import (
	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/cachemutation"
)

// All returns the analyzers of all rules, sorted by name.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		cachemutation.Analyzer,
	}
}
