// Package rules lists the rules.
package rules

import (
	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/blockinghandler"
	"github.com/informer-exporter/informer-exporter/lint/cachemutation"
	"github.com/informer-exporter/informer-exporter/lint/deferredargs"
	"github.com/informer-exporter/informer-exporter/lint/factoryshutdown"
	"github.com/informer-exporter/informer-exporter/lint/finalizerwrite"
	"github.com/informer-exporter/informer-exporter/lint/handlerleak"
	"github.com/informer-exporter/informer-exporter/lint/keynamespace"
	"github.com/informer-exporter/informer-exporter/lint/lateinformer"
	"github.com/informer-exporter/informer-exporter/lint/queuedone"
	"github.com/informer-exporter/informer-exporter/lint/queueforget"
	"github.com/informer-exporter/informer-exporter/lint/ratelimitedhandler"
	"github.com/informer-exporter/informer-exporter/lint/readbeforesync"
	"github.com/informer-exporter/informer-exporter/lint/sharedtransform"
	"github.com/informer-exporter/informer-exporter/lint/statusupdate"
	"github.com/informer-exporter/informer-exporter/lint/syncignored"
	"github.com/informer-exporter/informer-exporter/lint/tombstone"
	"github.com/informer-exporter/informer-exporter/lint/transformresult"
)

// All returns the analyzers of all rules, sorted by name.
func All() []*analysis.Analyzer {
	all := []*analysis.Analyzer{
		blockinghandler.Analyzer,
		cachemutation.Analyzer,
		deferredargs.Analyzer,
		factoryshutdown.Analyzer,
		finalizerwrite.Analyzer,
		handlerleak.Analyzer,
		keynamespace.Analyzer,
		lateinformer.Analyzer,
		queuedone.Analyzer,
		queueforget.Analyzer,
		ratelimitedhandler.Analyzer,
		readbeforesync.Analyzer,
		sharedtransform.Analyzer,
		statusupdate.Analyzer,
		syncignored.Analyzer,
		tombstone.Analyzer,
		transformresult.Analyzer,
	}
	for i, rule := range all {
		all[i] = honorNolint(rule)
	}
	return all
}
