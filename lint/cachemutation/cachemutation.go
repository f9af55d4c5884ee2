// Package cachemutation finds changes of objects that belong to a cache.
package cachemutation

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/flow"
)

const doc = `find changes of objects that belong to a cache

Listers, indexers and event handlers share their objects with all readers of the cache. A change without DeepCopy is a data race,
and other controllers see a state that the API server does not have.

Wrong:

	pod, err := lister.Get(name)
	...
	pod.Labels["seen"] = "true"

Right:

	pod = pod.DeepCopy()
	pod.Labels["seen"] = "true"

Appending to a slice of a cached object writes to its array if that has capacity left. Limit the capacity:

	all := append(pod.Spec.Containers[:n:n], more...)`

// Analyzer finds changes of objects that belong to a cache.
var Analyzer = &analysis.Analyzer{
	Name:     "cachemutation",
	Doc:      doc,
	Requires: []*analysis.Analyzer{flow.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	writes := flow.Of(pass)
	// An assignment of append's result says more than the append.
	slices.SortStableFunc(writes, func(a, b flow.Write) int { return strings.Compare(a.By, b.By) })
	seen := map[string]bool{}
	for _, write := range writes {
		pos := write.Instr.Pos()
		position := pass.Fset.Position(pos)
		line := fmt.Sprint(position.Filename, position.Line)
		calls := fmt.Sprintf("%p %s", write.Instr.Parent(), write.By)
		if !pos.IsValid() || seen[line] || write.At.IsValid() && seen[calls] {
			continue
		}
		seen[line], seen[calls] = true, true
		switch write.By {
		case "":
			pass.Reportf(pos, "this changes an object of the cache: change a DeepCopy")
		case "append":
			reportAppend(pass, write.Instr)
		default:
			if at := pass.Fset.Position(write.At); at.IsValid() {
				pass.Reportf(pos, "%s changes an object of the cache, at %s:%d: pass a DeepCopy", write.By, filepath.Base(at.Filename), at.Line)
				continue
			}
			pass.Reportf(pos, "%s changes an object of the cache: pass a DeepCopy", write.By)
		}
	}
	return nil, nil
}

// reportAppend reports an append, and suggests to limit the capacity if the slice is a plain selector.
func reportAppend(pass *analysis.Pass, instr ssa.Instruction) {
	d := analysis.Diagnostic{
		Pos:     instr.Pos(),
		Message: "append may write to the array of a slice in the cache: limit its capacity with slices.Clip, or append to a copy",
	}
	for _, file := range pass.Files {
		if file.FileStart > instr.Pos() || instr.Pos() >= file.FileEnd {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || call.Lparen != instr.Pos() && call.Pos() != instr.Pos() {
				return true
			}
			if len(call.Args) > 0 && plain(call.Args[0]) {
				text := types.ExprString(call.Args[0])
				edit := analysis.TextEdit{Pos: call.Args[0].End(), End: call.Args[0].End(), NewText: []byte("[:len(" + text + "):len(" + text + ")]")}
				d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Limit the capacity", TextEdits: []analysis.TextEdit{edit}}}
			}
			return false
		})
	}
	pass.Report(d)
}

// plain reports whether an expression is a variable or a field, which can be evaluated twice.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(e.X)
	}
	return false
}
