// Package blockinghandler finds event handlers that block.
package blockinghandler

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find event handlers that block

An informer calls a handler with one event after the other. While it sleeps or waits for a server, events pile up in memory, and the
handler works with old objects. Add a key to a queue, and work in a worker.

Wrong:

	AddFunc: func(obj any) {
		client.CoreV1().Pods(ns).Delete(ctx, name(obj), metav1.DeleteOptions{})
	},

Right:

	AddFunc: func(obj any) { queue.Add(key(obj)) },`

// Analyzer finds event handlers that block.
var Analyzer = &analysis.Analyzer{
	Name:     "blockinghandler",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer, handlers.Analyzer},
	Run:      run,
}

// depth is how many calls are followed from a handler.
const depth = 3

func run(pass *analysis.Pass) (any, error) {
	reported := map[token.Pos]bool{}
	for _, h := range handlers.Of(pass) {
		if ir.InTest(pass, h.Func.Pos()) { // a test may block a handler on purpose
			continue
		}
		for _, f := range ir.Of(pass).Reached(h.Func, depth) {
			for instr := range ir.Instrs[ssa.Instruction](f) {
				if what := blocks(ir.Of(pass), instr); what != "" && !reported[instr.Pos()] {
					reported[instr.Pos()] = true
					pass.Reportf(instr.Pos(), "%s blocks an event handler: add a key to a queue, and do this in a worker", what)
				}
			}
		}
	}
	return nil, nil
}

// blocks returns what blocks, or nothing.
func blocks(pkg *ir.Package, instr ssa.Instruction) string {
	switch instr := instr.(type) {
	case *ssa.Send:
		if unbuffered(pkg, instr.Chan) {
			return "a send to a channel without a buffer"
		}
	case *ssa.Call:
		if m, ok := kube.Called(&instr.Call); ok && waits(m) {
			return m.Name
		}
	}
	return ""
}

// verbs are the methods of clients that send a request.
var verbs = map[string]bool{
	"Get": true, "List": true, "Create": true, "Update": true, "UpdateStatus": true, "Patch": true, "Delete": true, "DeleteCollection": true,
	"Apply": true, "ApplyStatus": true,
}

func waits(m kube.Method) bool {
	switch {
	case m.In("time", "Sleep"), m.In("net/http", "Get", "Post", "Head", "PostForm", "Client.Do", "Client.Get", "Client.Post"):
		return true
	case m.Path == "k8s.io/apimachinery/pkg/util/wait":
		return strings.HasPrefix(m.Name, "Poll")
	case m.Recv == nil || !verbs[m.Name] || !takesContext(m.Func):
		return false
	case strings.HasPrefix(m.Path, kube.Runtime+"client"): // reads are from the cache
		return m.Name != "Get" && m.Name != "List"
	}
	return strings.Contains(m.Path, "/typed/") || m.Path == "k8s.io/client-go/dynamic" || m.Path == "k8s.io/client-go/metadata"
}

func takesContext(f *types.Func) bool {
	params := f.Signature().Params()
	return params.Len() > 0 && kube.Is(params.At(0).Type(), "context", "Context")
}

// unbuffered reports whether a channel has no buffer: it is a local variable, or a field, to which the package assigns only such
// channels.
func unbuffered(pkg *ir.Package, v ssa.Value) bool {
	switch v := ir.Unwrap(v).(type) {
	case *ssa.MakeChan:
		size, ok := v.Size.(*ssa.Const)
		return ok && size.Int64() == 0
	case *ssa.UnOp:
		stores := ir.Stores(v.X)
		if field, ok := v.X.(*ssa.FieldAddr); ok {
			stores = fieldStores(pkg, field)
		}
		for _, store := range stores {
			if _, made := ir.Unwrap(store.Val).(*ssa.MakeChan); !made || !unbuffered(pkg, store.Val) {
				return false
			}
		}
		return len(stores) > 0
	}
	return false
}

func fieldStores(pkg *ir.Package, field *ssa.FieldAddr) []*ssa.Store {
	var all []*ssa.Store
	for _, f := range pkg.Funcs {
		for store := range ir.Instrs[*ssa.Store](f) {
			if addr, ok := store.Addr.(*ssa.FieldAddr); ok && addr.Field == field.Field && types.Identical(addr.X.Type(), field.X.Type()) {
				all = append(all, store)
			}
		}
	}
	return all
}
