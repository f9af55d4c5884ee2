// Package deferredargs finds deferred calls that evaluate an error too early.
package deferredargs

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find deferred calls that evaluate an error too early

The arguments of a deferred call are evaluated by the defer statement. A metric or log line then sees the error of that time, which is
nil, and counts failures as successes.

Wrong:

	func (r *Reconciler) sync() (err error) {
		defer observe(start, err)

Right:

	func (r *Reconciler) sync() (err error) {
		defer func() { observe(start, err) }()`

// Analyzer finds deferred calls that evaluate an error too early.
var Analyzer = &analysis.Analyzer{Name: "deferredargs", Doc: doc, Run: run}

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			d, ok := n.(*ast.DeferStmt)
			if !ok || failed(pass, stack) {
				return true
			}
			for _, arg := range d.Call.Args {
				if v := errorVariable(pass, arg); v != nil && assignedAfter(pass, v, d, stack) {
					report(pass, d, arg)
				}
			}
			return true
		})
	}
	return nil, nil
}

// errorVariable returns the variable of type error that an expression names, or nil.
func errorVariable(pass *analysis.Pass, e ast.Expr) *types.Var {
	ident, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := pass.TypesInfo.Uses[ident].(*types.Var)
	if !ok || !kube.IsError(v.Type()) || v.Parent() == pass.Pkg.Scope() {
		return nil
	}
	return v
}

// function returns the innermost function of a stack.
func function(stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return stack[i]
		}
	}
	return nil
}

// failed reports whether a statement runs only if an error is not nil, which later assignments do not change.
func failed(pass *analysis.Pass, stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		case *ast.IfStmt:
			if cond, ok := n.Cond.(*ast.BinaryExpr); ok && errorVariable(pass, cond.X) != nil {
				return true
			}
		}
	}
	return false
}

// assignedAfter reports whether the function assigns to a variable after a defer statement, or returns it by name.
func assignedAfter(pass *analysis.Pass, v *types.Var, d *ast.DeferStmt, stack []ast.Node) bool {
	f := function(stack)
	if f == nil {
		return false
	}
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if ident, ok := left.(*ast.Ident); ok && n.Pos() > d.End() && pass.TypesInfo.Uses[ident] == v {
					found = true
				}
			}
		case *ast.ReturnStmt:
			found = found || n.Pos() > d.End() && len(n.Results) > 0 && isResult(v, f)
		}
		return !found
	})
	return found
}

// isResult reports whether a variable is a named result of a function.
func isResult(v *types.Var, f ast.Node) bool {
	var t *ast.FuncType
	switch f := f.(type) {
	case *ast.FuncLit:
		t = f.Type
	case *ast.FuncDecl:
		t = f.Type
	}
	return t.Results != nil && t.Results.Pos() <= v.Pos() && v.Pos() < t.Results.End()
}

func report(pass *analysis.Pass, d *ast.DeferStmt, arg ast.Expr) {
	diagnostic := analysis.Diagnostic{Pos: arg.Pos(), End: arg.End(), Message: "the defer statement evaluates this error now, before it is assigned: defer a function literal"}
	if constants(pass, d.Call.Args) {
		diagnostic.SuggestedFixes = []analysis.SuggestedFix{{Message: "Defer a function literal", TextEdits: []analysis.TextEdit{
			{Pos: d.Call.Pos(), End: d.Call.Pos(), NewText: []byte("func() { ")},
			{Pos: d.Call.End(), End: d.Call.End(), NewText: []byte(" }()")},
		}}}
	}
	pass.Report(diagnostic)
}

// constants reports whether all arguments but one are constants, with a value that does not depend on the time.
func constants(pass *analysis.Pass, args []ast.Expr) bool {
	variable := 0
	for _, arg := range args {
		if pass.TypesInfo.Types[arg].Value == nil {
			variable++
		}
	}
	return variable == 1
}
