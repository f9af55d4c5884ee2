package stacktest

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Define creates a CustomResourceDefinition, waits until its versions are served, and deletes it at the end of the test. If one
// of the same name is being deleted, Define waits for that first.
func Define(t testing.TB, config *rest.Config, definition *unstructured.Unstructured) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(config)
	definitions := client.Resource(stack.Definitions)
	await.NoError(t, "create "+definition.GetName(), func() error {
		_, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		err := definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) { // the test may have deleted it
			t.Error(err)
		}
	})
	for _, resource := range served(definition) {
		await.NoError(t, fmt.Sprintf("%v is served", resource), func() error {
			_, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{Limit: 1})
			return err
		})
	}
}

func served(definition *unstructured.Unstructured) (resources []schema.GroupVersionResource) {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		if v := v.(map[string]any); v["served"] == true {
			resources = append(resources, schema.GroupVersionResource{Group: group, Version: v["name"].(string), Resource: plural})
		}
	}
	return resources
}
