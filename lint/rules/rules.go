// Package rules lists the rules.
package rules

import (
	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/blockinghandler"
	"github.com/informer-exporter/informer-exporter/lint/cachemutation"
	"github.com/informer-exporter/informer-exporter/lint/queuedone"
	"github.com/informer-exporter/informer-exporter/lint/queueforget"
	"github.com/informer-exporter/informer-exporter/lint/ratelimitedhandler"
	"github.com/informer-exporter/informer-exporter/lint/syncignored"
	"github.com/informer-exporter/informer-exporter/lint/tombstone"
)

// All returns the analyzers of all rules, sorted by name.
func All() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		blockinghandler.Analyzer,
		cachemutation.Analyzer,
		queuedone.Analyzer,
		queueforget.Analyzer,
		ratelimitedhandler.Analyzer,
		syncignored.Analyzer,
		tombstone.Analyzer,
	}
}
