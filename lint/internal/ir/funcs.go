package ir

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Functions returns the functions of this package that a function value may be.
func (p *Package) Functions(v ssa.Value) []*ssa.Function { return p.functions(v, 4) }

func (p *Package) functions(v ssa.Value, depth int) []*ssa.Function {
	if depth == 0 {
		return nil
	}
	switch v := v.(type) {
	case *ssa.Function:
		if f, ok := v.Object().(*types.Func); ok && v.Synthetic != "" { // a bound method
			v = p.Prog.FuncValue(f)
		}
		if v != nil && len(v.Blocks) > 0 {
			return []*ssa.Function{v}
		}
	case *ssa.MakeClosure:
		return p.functions(v.Fn, depth)
	case *ssa.ChangeType:
		return p.functions(v.X, depth)
	case *ssa.Phi:
		var all []*ssa.Function
		for _, edge := range v.Edges {
			all = append(all, p.functions(edge, depth-1)...)
		}
		return all
	case *ssa.UnOp:
		if stores := Stores(v.X); v.Op == token.MUL && len(stores) == 1 {
			return p.functions(stores[0].Val, depth-1)
		}
	case *ssa.Call:
		var all []*ssa.Function
		for _, returned := range Returns(v.Call.StaticCallee(), 0) {
			all = append(all, p.functions(returned, depth-1)...)
		}
		return all
	}
	return nil
}

// Returns returns what a function returns as its i-th result.
func Returns(f *ssa.Function, i int) []ssa.Value {
	var all []ssa.Value
	if f == nil {
		return nil
	}
	for _, block := range f.Blocks {
		if len(block.Instrs) == 0 {
			continue
		}
		if ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return); ok && i < len(ret.Results) {
			all = append(all, ret.Results[i])
		}
	}
	return all
}

// Stores returns the stores to a local variable, also those of function literals. It returns none if v is not one.
func Stores(v ssa.Value) []*ssa.Store {
	alloc := Variable(v)
	if alloc == nil {
		return nil
	}
	var all []*ssa.Store
	for _, ref := range References(alloc) {
		if store, ok := ref.(*ssa.Store); ok && Variable(store.Addr) == alloc {
			all = append(all, store)
		}
	}
	return all
}

// Variable returns the local variable that has the address v, perhaps one of an enclosing function, or nil.
func Variable(v ssa.Value) *ssa.Alloc {
	for {
		switch w := v.(type) {
		case *ssa.Alloc:
			return w
		case *ssa.FreeVar:
			if v = Binding(w); v == nil {
				return nil
			}
		default:
			return nil
		}
	}
}

// Binding returns the variable of the enclosing function that a function literal refers to.
func Binding(free *ssa.FreeVar) ssa.Value {
	f := free.Parent()
	if f.Parent() == nil {
		return nil
	}
	for closure := range Instrs[*ssa.MakeClosure](f.Parent()) {
		if closure.Fn == f {
			return closure.Bindings[slices.Index(f.FreeVars, free)]
		}
	}
	return nil
}

// References returns the instructions that use a local variable, also those of function literals.
func References(v ssa.Value) []ssa.Instruction {
	var all []ssa.Instruction
	if v.Referrers() == nil {
		return nil
	}
	for _, ref := range *v.Referrers() {
		closure, ok := ref.(*ssa.MakeClosure)
		if !ok {
			all = append(all, ref)
			continue
		}
		for i, binding := range closure.Bindings {
			if f, ok := closure.Fn.(*ssa.Function); ok && binding == v && i < len(f.FreeVars) {
				all = append(all, References(f.FreeVars[i])...)
			}
		}
	}
	return all
}
