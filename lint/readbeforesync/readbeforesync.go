// Package readbeforesync finds reads of a cache that is not synced yet.
package readbeforesync

import (
	"regexp"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find reads of a cache between the start of its informers and their initial sync

A lister returns "not found", and short lists, until the initial sync.

Wrong:

	factory.Start(ctx.Done())
	pods, err := factory.Core().V1().Pods().Lister().List(labels.Everything())

Right:

	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), podInformer.HasSynced) {
		return errors.New("cache not synced")
	}
	pods, err := factory.Core().V1().Pods().Lister().List(labels.Everything())`

// Analyzer finds reads of a cache that is not synced yet.
var Analyzer = &analysis.Analyzer{
	Name:     "readbeforesync",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

// waits matches the names of functions that may wait for the initial sync.
var waits = regexp.MustCompile(`(?i)sync|wait|ready|poll|eventually|sleep`)

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		var starts, reads []ssa.CallInstruction
		waiting := false
		for call := range ir.Calls(f) {
			m, ok := kube.Called(call.Common())
			switch {
			case !ok, waits.MatchString(m.Name):
				waiting = waiting || len(starts) > 0
			case waiting, m.Recv == nil:
			case kube.IsFactory(m.Recv.Type()) && (m.Name == "Start" || m.Name == "StartWithContext"):
				starts = append(starts, call)
			case kube.IsLister(m.Recv.Type()) && (m.Name == "List" || m.Name == "Get"):
				reads = append(reads, call)
			}
		}
		for _, read := range reads {
			if len(starts) > 0 && ir.Dominates(starts[0], read) && !ir.InTest(pass, read.Pos()) {
				pass.Reportf(read.Pos(), "the informers are started, but this does not wait for their initial sync: the cache may be empty")
				break
			}
		}
	}
	return nil, nil
}
