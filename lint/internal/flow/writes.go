package flow

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// Write is an instruction that changes an object of a cache.
type Write struct {
	Instr ssa.Instruction
	// By is the function that changes the object, empty for an assignment.
	By string
	// At is where By changes the object, if it is a function of the package.
	At token.Pos
}

// written returns the values that an instruction changes, and the function that it calls for that.
func (g *group) written(instr ssa.Instruction) ([]ssa.Value, string) {
	switch instr := instr.(type) {
	case *ssa.Store:
		base, path := place(instr.Addr)
		if ir.Variable(base) != nil || g.state(base).kind == fresh && len(path) == 1 {
			return nil, ""
		}
		return []ssa.Value{base}, ""
	case *ssa.MapUpdate:
		return []ssa.Value{instr.Map}, ""
	case ssa.CallInstruction:
		return g.writtenBy(instr.Common())
	}
	return nil, ""
}

func (g *group) writtenBy(call *ssa.CallCommon) ([]ssa.Value, string) {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append":
			if c, ok := call.Args[0].(*ssa.Const); ok && c.IsNil() {
				return nil, ""
			}
			return call.Args[:1], "append"
		case "delete", "copy", "clear":
			return call.Args[:1], b.Name()
		}
		return nil, ""
	}
	if callee := call.StaticCallee(); callee != nil {
		var all []ssa.Value
		for i, p := range callee.Params {
			if g.changed[p].IsValid() && i < len(call.Args) {
				all = append(all, call.Args[i])
			}
		}
		if len(all) > 0 {
			return all, callee.Name()
		}
	}
	m, ok := kube.Called(call)
	if !ok {
		return nil, ""
	}
	if v := setter(m); v != nil {
		return []ssa.Value{v}, m.Name
	}
	return nil, ""
}

// arguments are the functions that change an argument, which the number selects.
var arguments = map[string]int{
	kube.Runtime + "controller/controllerutil.AddFinalizer": 0, kube.Runtime + "controller/controllerutil.RemoveFinalizer": 0,
	kube.Runtime + "controller/controllerutil.SetControllerReference": 1, kube.Runtime + "controller/controllerutil.SetOwnerReference": 1,
	kube.Runtime + "controller/controllerutil.RemoveOwnerReference": 1, kube.Runtime + "controller/controllerutil.RemoveControllerReference": 1,
	kube.Runtime + "controller/controllerutil.CreateOrUpdate": 2, kube.Runtime + "controller/controllerutil.CreateOrPatch": 2,
	"k8s.io/apimachinery/pkg/apis/meta/v1.SetMetaDataAnnotation": 0, "k8s.io/apimachinery/pkg/apis/meta/v1.SetMetaDataLabel": 0,
	"k8s.io/apimachinery/pkg/api/meta.SetStatusCondition": 0, "k8s.io/apimachinery/pkg/api/meta.RemoveStatusCondition": 0,
	unstructured + ".SetNestedField": 0, unstructured + ".SetNestedMap": 0, unstructured + ".SetNestedSlice": 0, unstructured + ".SetNestedStringMap": 0,
	unstructured + ".SetNestedStringSlice": 0, unstructured + ".RemoveNestedField": 0,
	"sort.Slice": 0, "sort.SliceStable": 0, "sort.Sort": 0, "sort.Stable": 0, "sort.Strings": 0, "slices.Sort": 0, "slices.SortFunc": 0,
	"slices.SortStableFunc": 0, "slices.Reverse": 0, "slices.Delete": 0, "slices.DeleteFunc": 0, "slices.Compact": 0, "slices.CompactFunc": 0, "maps.Copy": 0,
	"maps.DeleteFunc": 0, "encoding/json.Unmarshal": 1,
}

// setter returns the value that a function of another package changes, or nil.
func setter(m kube.Method) ssa.Value {
	if m.Type == "" {
		if i, ok := arguments[m.Path+"."+m.Name]; ok && i < len(m.Args) {
			return m.Args[i]
		}
		return nil
	}
	switch {
	case strings.HasPrefix(m.Path, kube.Runtime+"client") && (m.Name == "Create" || m.Name == "Update" || m.Name == "Patch"):
		if len(m.Args) > 1 { // decodes the response into the object
			return m.Args[1]
		}
	case m.Name == "SetGroupVersionKind", strings.HasPrefix(m.Name, "Set") && metadata[m.Name[3:]] && kube.IsObject(m.Recv.Type()),
		m.Path == unstructured && (m.Name == "SetUnstructuredContent" || m.Name == "UnmarshalJSON"):
		return m.Recv
	}
	return nil
}

var metadata = map[string]bool{
	"Namespace": true, "Name": true, "GenerateName": true, "UID": true, "ResourceVersion": true, "Generation": true, "SelfLink": true, "CreationTimestamp": true,
	"DeletionTimestamp": true, "DeletionGracePeriodSeconds": true, "Labels": true, "Annotations": true, "Finalizers": true,
	"OwnerReferences": true, "ManagedFields": true, "Kind": true, "APIVersion": true,
}
