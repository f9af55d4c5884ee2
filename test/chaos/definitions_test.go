package chaos

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// define creates the definition of a resource widgets, which is served in one version, and one object of it.
func (p *plane) define(t *testing.T, namespace, group, version string) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(p.Config())
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
	crds := client.Resource(crdResource)
	await(t, "the definition can be made", func() error { // once the one before is gone
		_, err := crds.Create(t.Context(), crd, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() { _ = crds.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}) })
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": "Widget", "metadata": map[string]any{"name": "one"},
	}}
	await(t, "the resource is served", func() error {
		_, err := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: "widgets"}).Namespace(namespace).Create(t.Context(), widget, metav1.CreateOptions{})
		return err
	})
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func (p *plane) undefine(t *testing.T, group string) {
	t.Helper()
	if err := dynamic.NewForConfigOrDie(p.Config()).Resource(crdResource).Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// The definitions of two resources are deleted, and come back with another version. The configuration names one of them, and
// a pattern finds the other.
func TestCRDDeleted(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	const named, found = "named.chaos.test", "found.chaos.test"
	plane.define(t, namespace, named, "v1")
	plane.define(t, namespace, found, "v1")
	p := start(t, kubeconfig(t, plane.Config()), plane.Config(), watching(namespace, definitions, "widgets."+named, "*."+found))
	p.shows(`objects{informer_type="widgets.named.chaos.test"} 1`, `objects{informer_type="widgets.found.chaos.test"} 1`)
	before := p.figures()
	p.mark()
	since := p.log

	plane.undefine(t, named)
	plane.undefine(t, found)
	p.shows(`kind_up{informer_type="widgets.named.chaos.test"} 0`, `state{informer_type="widgets.named.chaos.test",state="missing"} 1`, `watch_connected{informer_type="widgets.named.chaos.test"} 0`,
		`objects{informer_type="widgets.named.chaos.test"} 0`,
		`kind_up{informer_type="widgets.found.chaos.test"} absent`, `objects{informer_type="widgets.found.chaos.test"} absent`,
		`kind_up{informer_type="customresourcedefinitions.apiextensions.k8s.io"} 1`, "readyz 200")
	p.keeps(`kind_up{informer_type="widgets.named.chaos.test"} 0`, `state{informer_type="widgets.named.chaos.test",state="synced"} absent`, `state{informer_type="widgets.found.chaos.test"} absent`,
		`audits_total{informer_type="widgets.named.chaos.test",result="consistent"} stays`, "audit_differences 0")

	plane.define(t, namespace, named, "v2")
	plane.define(t, namespace, found, "v2")
	p.mark()
	p.shows(`objects{informer_type="widgets.named.chaos.test"} 1`, `objects{informer_type="widgets.found.chaos.test"} 1`)
	p.well()
	p.quiet(since, 5)
	p.bounded(before)
}
