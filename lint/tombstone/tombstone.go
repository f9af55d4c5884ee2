// Package tombstone finds delete handlers that lose deletions.
package tombstone

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find delete handlers that do not expect DeletedFinalStateUnknown

An informer that missed a deletion, because its watch was down, passes a cache.DeletedFinalStateUnknown instead of the object. A
handler that asserts the type of the object then panics, or ignores the deletion.

Wrong:

	DeleteFunc: func(obj any) {
		c.forget(obj.(*corev1.Pod))
	},

Right:

	DeleteFunc: func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		...
	},`

// Analyzer finds delete handlers that do not expect DeletedFinalStateUnknown.
var Analyzer = &analysis.Analyzer{
	Name:     "tombstone",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer, handlers.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, h := range handlers.Of(pass) {
		if h.Kind != handlers.Delete || len(h.Objects) == 0 || !types.IsInterface(h.Objects[0].Type()) {
			continue
		}
		c := &checker{seen: map[ssa.Value]bool{}}
		c.follow(h.Objects[0], 4)
		if c.lost && !c.expected {
			d := analysis.Diagnostic{Pos: h.Func.Pos(), Message: "this delete handler does not expect cache.DeletedFinalStateUnknown: it loses deletions that the watch missed"}
			d.SuggestedFixes = fix(pass, h)
			pass.Report(d)
		}
	}
	return nil, nil
}

// checker follows the object of a delete handler.
type checker struct {
	seen     map[ssa.Value]bool
	lost     bool // a use that works with the object only
	expected bool // a use that works with a tombstone, or is not known
}

func (c *checker) follow(v ssa.Value, depth int) {
	if c.seen[v] || v.Referrers() == nil {
		return
	}
	c.seen[v] = true
	for _, instr := range *v.Referrers() {
		switch instr := instr.(type) {
		case *ssa.TypeAssert:
			c.asserted(instr)
		case *ssa.ChangeInterface:
			c.follow(instr, depth)
		case *ssa.MakeInterface:
			c.follow(instr, depth)
		case *ssa.Phi:
			c.follow(instr, depth)
		case *ssa.Store:
			variable := ir.Variable(instr.Addr)
			if variable == nil {
				c.expected = c.expected || !logged(instr.Addr)
				continue
			}
			for _, ref := range ir.References(variable) {
				if load, ok := ref.(*ssa.UnOp); ok {
					c.follow(load, depth)
				}
			}
		case ssa.CallInstruction:
			c.passed(instr.Common(), v, depth)
		case *ssa.BinOp, *ssa.DebugRef, *ssa.If:
		default:
			c.expected = true
		}
	}
}

// logged reports whether an address is an element of the arguments of a variadic call, as those of log functions.
func logged(addr ssa.Value) bool {
	index, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	array, ok := index.X.(*ssa.Alloc)
	return ok && array.Comment == "varargs"
}

func (c *checker) asserted(a *ssa.TypeAssert) {
	switch {
	case kube.Is(a.AssertedType, kube.Cache, "DeletedFinalStateUnknown"):
		c.expected = true
	case !types.IsInterface(a.AssertedType), kube.IsObject(a.AssertedType):
		c.lost = true
	}
}

func (c *checker) passed(call *ssa.CallCommon, v ssa.Value, depth int) {
	if m, ok := kube.Called(call); ok && (m.In(kube.Cache, "MetaNamespaceKeyFunc", "ObjectToName", "MetaObjectToName") || m.In("k8s.io/apimachinery/pkg/api/meta", "Accessor")) {
		c.lost = true
		return
	}
	callee := call.StaticCallee()
	if callee == nil || len(callee.Blocks) == 0 || depth == 0 {
		c.expected = true // not known
		return
	}
	for i, arg := range call.Args {
		if arg == v && i < len(callee.Params) {
			c.follow(callee.Params[i], depth-1)
		}
	}
}

// fix unwraps the tombstone in the first statement of a handler, if its object is an empty interface.
func fix(pass *analysis.Pass, h handlers.Handler) []analysis.SuggestedFix {
	var body *ast.BlockStmt
	switch syntax := h.Func.Syntax().(type) {
	case *ast.FuncLit:
		body = syntax.Body
	case *ast.FuncDecl:
		body = syntax.Body
	}
	object := h.Objects[0]
	if i, ok := object.Type().Underlying().(*types.Interface); !ok || !i.Empty() || body == nil || len(body.List) == 0 || object.Name() == "_" {
		return nil
	}
	start, name := body.List[0].Pos(), cacheName(pass, body)
	if name == "" {
		return nil
	}
	text := "if tombstone, ok := " + object.Name() + ".(" + name + ".DeletedFinalStateUnknown); ok {\n" + object.Name() + " = tombstone.Obj\n}\n"
	return []analysis.SuggestedFix{{Message: "Unwrap the tombstone", TextEdits: []analysis.TextEdit{{Pos: start, End: start, NewText: []byte(text)}}}}
}

// cacheName returns the name that the file of a node imports the package cache as, or nothing.
func cacheName(pass *analysis.Pass, node ast.Node) string {
	for _, file := range pass.Files {
		if file.FileStart > node.Pos() || node.Pos() >= file.FileEnd {
			continue
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"`+kube.Cache+`"` {
				return pass.TypesInfo.PkgNameOf(spec).Name()
			}
		}
	}
	return ""
}
