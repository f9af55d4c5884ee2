package kube

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Chain returns the factory from which a chain of calls as factory.Core().V1().Pods() starts, and the names of its methods up to
// the resource. It returns nil for other values.
func Chain(v ssa.Value) (factory ssa.Value, names string) {
	var all []string
	for {
		call, ok := v.(*ssa.Call)
		if !ok {
			break
		}
		m, ok := Called(&call.Call)
		if !ok || m.Recv == nil || len(m.Args) > 1 {
			break
		}
		if name := m.Name; name != "Informer" && name != "Lister" {
			if len(m.Args) == 1 { // ForResource
				name += "(" + m.Args[0].String() + ")"
			}
			all = append([]string{name}, all...)
		}
		v = m.Recv
		if IsFactory(v.Type()) {
			return v, strings.Join(all, ".")
		}
	}
	return nil, ""
}
