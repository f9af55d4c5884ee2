// Package keynamespace finds key functions that mix objects of several namespaces.
package keynamespace

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find key functions without the namespace

With a key function that returns the name only, objects of two namespaces with one name replace each other in the store.

Wrong:

	store := cache.NewStore(func(obj any) (string, error) { return obj.(*corev1.Pod).Name, nil })

Right:

	store := cache.NewStore(cache.MetaNamespaceKeyFunc)`

// Analyzer finds key functions without the namespace.
var Analyzer = &analysis.Analyzer{
	Name:     "keynamespace",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

// cluster are the kinds of k8s.io/api without a namespace.
var cluster = map[string]bool{
	"Node": true, "Namespace": true, "PersistentVolume": true, "ComponentStatus": true, "StorageClass": true, "CSINode": true, "CSIDriver": true, "VolumeAttachment": true,
	"VolumeAttributesClass": true, "PriorityClass": true, "RuntimeClass": true, "IngressClass": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"CertificateSigningRequest": true, "ClusterTrustBundle": true, "MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true,
	"ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true, "MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true,
	"FlowSchema": true, "PriorityLevelConfiguration": true, "DeviceClass": true, "ResourceSlice": true, "ServiceCIDR": true, "IPAddress": true, "StorageVersion": true,
}

func run(pass *analysis.Pass) (any, error) {
	reported := map[*ssa.Function]bool{}
	for _, f := range ir.Of(pass).Funcs {
		for conversion := range ir.Instrs[*ssa.ChangeType](f) {
			if !kube.Is(conversion.Type(), kube.Cache, "KeyFunc") {
				continue
			}
			for _, key := range ir.Of(pass).Functions(conversion.X) {
				if !reported[key] && namespaced(key) && nameOnly(pass, key.Syntax()) {
					reported[key] = true
					pass.Reportf(key.Pos(), "this key function ignores the namespace: objects with one name replace each other")
				}
			}
		}
	}
	return nil, nil
}

// namespaced reports whether a key function asserts that its object has a namespaced type of k8s.io/api.
func namespaced(key *ssa.Function) bool {
	for a := range ir.Instrs[*ssa.TypeAssert](key) {
		path, name := kube.PathName(a.AssertedType)
		if strings.HasPrefix(path, "k8s.io/api/") && !cluster[name] {
			return true
		}
	}
	return false
}

// nameOnly reports whether a function uses the name of an object, and nothing else that may tell objects apart.
func nameOnly(pass *analysis.Pass, f ast.Node) bool {
	name, more := false, false
	ast.Inspect(f, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch selector.Sel.Name {
		case "Name", "GetName":
			name = true
		case "Namespace", "GetNamespace", "UID", "GetUID", "Spec", "Status", "Labels", "Annotations", "Data":
			more = true
		default:
			if f, ok := pass.TypesInfo.Uses[selector.Sel].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() != "fmt" && f.Pkg().Path() != "errors" {
				more = true
			}
		}
		return true
	})
	return name && !more
}
