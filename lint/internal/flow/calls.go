package flow

import (
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// result returns what is known about the i-th result of a call.
func (g *group) result(call *ssa.Call, i int) state {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
		return g.appended(call)
	}
	if callee := call.Call.StaticCallee(); callee != nil {
		if results := g.results[callee]; i < len(results) {
			return g.substitute(results[i], callee, call.Call.Args)
		}
		if len(callee.Blocks) > 0 {
			return state{kind: none}
		}
	}
	m, ok := kube.Called(&call.Call)
	if !ok || i != 0 {
		return state{kind: none}
	}
	if k := source(m); k != none {
		if m.Path == kube.Cache && g.privateStores {
			return state{kind: none}
		}
		return state{kind: k}
	}
	if v := alias(m); v != nil {
		return g.state(v)
	}
	return state{kind: none}
}

// appended returns what is known about the result of append: a slice with objects of a cache only, or nothing.
func (g *group) appended(call *ssa.Call) state {
	to, elements := g.state(call.Call.Args[0]), state{kind: none}
	if len(call.Call.Args) > 1 {
		elements = g.state(call.Call.Args[1])
	}
	if all := join(to, elements); all.kind == fresh {
		return all
	}
	return state{kind: none}
}

// substitute replaces the parameters that a state of a callee needs by the arguments of a call.
func (g *group) substitute(s state, callee *ssa.Function, args []ssa.Value) state {
	all := state{kind: s.kind}
	for i, p := range callee.Params {
		bit := g.bits[p]
		if s.needs&bit == 0 {
			continue
		}
		arg := g.state(args[i])
		if arg.kind != cached {
			return state{kind: none}
		}
		all.needs |= arg.needs
		s.needs &^= bit
	}
	if s.needs != 0 {
		return state{kind: none}
	}
	return all
}

// source returns the kind of the first result of a method that reads a cache, or none.
func source(m kube.Method) kind {
	if m.Recv == nil {
		return none
	}
	switch t := m.Recv.Type(); {
	case kube.IsLister(t) && m.Name == "Get", m.In(kube.Cache, "Store.Get", "Store.GetByKey", "Indexer.Get", "Indexer.GetByKey"):
		return cached
	case kube.IsLister(t) && m.Name == "List", m.In(kube.Cache, "Store.List", "Indexer.List", "Indexer.ByIndex", "Indexer.Index"):
		return fresh
	}
	return none
}

// alias returns the value that shares its memory with the first result of a call, or nil.
func alias(m kube.Method) ssa.Value {
	switch {
	case m.In("k8s.io/apimachinery/pkg/api/meta", "Accessor"):
		return m.Args[0]
	case m.In(unstructured, "NestedFieldNoCopy"):
		return m.Args[0]
	case m.Recv == nil:
		return nil
	case m.Path == unstructured && m.Name != "UnstructuredContent":
		return nil // the getters copy
	}
	switch m.Name {
	case "GetLabels", "GetAnnotations", "GetOwnerReferences", "GetFinalizers", "GetObjectMeta", "GetObjectKind", "UnstructuredContent":
		return m.Recv
	}
	return nil
}

const unstructured = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
