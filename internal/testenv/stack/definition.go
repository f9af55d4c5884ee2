package stack

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definitions is the resource of CustomResourceDefinitions.
var Definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Version is a version of a custom resource. By default it is served, allows any fields, and has no subresources.
type Version struct {
	Name      string
	NotServed bool
	// Spec and Status are the schema properties of these two fields; nil allows any.
	Spec, Status map[string]any
	// Subresources is the field subresources of the definition.
	Subresources map[string]any
}

// Definition returns the CustomResourceDefinition of a namespaced kind. Its plural is its name in lower case with an
// s. The first version is the storage version; without versions there is one, v1.
func Definition(group, kind string, versions ...Version) *unstructured.Unstructured {
	if len(versions) == 0 {
		versions = []Version{{Name: "v1"}}
	}
	var list []any
	for i, v := range versions {
		version := map[string]any{
			"name": v.Name, "served": !v.NotServed, "storage": i == 0,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": object(v.Spec), "status": object(v.Status)},
			}},
		}
		if v.Subresources != nil {
			version["subresources"] = v.Subresources
		}
		list = append(list, version)
	}
	singular := strings.ToLower(kind)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": Definitions.GroupVersion().String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": singular + "s." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": list,
			"names": map[string]any{"plural": singular + "s", "singular": singular, "kind": kind, "listKind": kind + "List"},
		},
	}}
}

func object(properties map[string]any) map[string]any {
	if properties == nil {
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	return map[string]any{"type": "object", "properties": properties}
}
