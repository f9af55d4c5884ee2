package tombstone

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

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
