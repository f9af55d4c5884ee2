package chaos

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// define creates a CustomResourceDefinition of Widgets with one version, and one Widget.
func (p *plane) define(t *testing.T, namespace, group, version string) {
	t.Helper()
	stacktest.Define(t, p.Config(), stack.Definition(group, "Widget", stack.Version{Name: version}))
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": "Widget", "metadata": map[string]any{"name": "one"},
	}}
	widgets := dynamic.NewForConfigOrDie(p.Config()).Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: "widgets"})
	if _, err := widgets.Namespace(namespace).Create(t.Context(), widget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (p *plane) undefine(t *testing.T, group string) {
	t.Helper()
	if err := dynamic.NewForConfigOrDie(p.Config()).Resource(stack.Definitions).Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// The definitions of two resources are deleted, and created again with another version. The configuration names one of
// them; a pattern matches the other.
func TestCRDDeleted(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	const named, found = "named.chaos.test", "found.chaos.test"
	plane.define(t, namespace, named, "v1")
	plane.define(t, namespace, found, "v1")
	p := start(t, stacktest.Kubeconfig(t, plane.Config()), plane.Config(), watching(namespace, definitions, "widgets."+named, "*."+found))
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
