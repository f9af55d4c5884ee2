// Package manifest decodes manifests and applies them to a real API server.
package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Decode returns the objects of YAML documents. Empty documents are skipped.
func Decode(t testing.TB, text string) (objects []*unstructured.Unstructured) {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Applier applies objects like `kubectl apply --server-side --validate=strict`, and treats warnings as errors. It is not safe for
// concurrent use.
type Applier struct {
	namespace string
	client    dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	warnings  []string
}

// NewApplier returns an Applier without a rate limit. Objects without a namespace get the given one. If it is empty, Apply returns
// an error for them. The configuration is modified.
func NewApplier(config *rest.Config, namespace string) *Applier {
	a := &Applier{namespace: namespace}
	config.QPS, config.WarningHandlerWithContext = -1, a
	a.client = dynamic.NewForConfigOrDie(config)
	a.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	return a
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (a *Applier) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	a.warnings = append(a.warnings, text)
}

// Apply applies an object. A kind that the server does not know yet is an error; call Apply again.
func (a *Applier) Apply(ctx context.Context, object *unstructured.Unstructured) error {
	err := a.patch(ctx, object)
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func (a *Applier) patch(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		a.mapper.Reset()
		return err
	}
	namespace := object.GetNamespace()
	switch namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace; {
	case !namespaced && namespace != "":
		return fmt.Errorf("a cluster-scoped object has the namespace %q", namespace)
	case namespaced && namespace == "" && a.namespace == "":
		return errors.New("no namespace")
	case namespaced && namespace == "":
		namespace = a.namespace
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	force := true
	a.warnings = nil
	_, err = a.client.Resource(mapping.Resource).Namespace(namespace).Patch(ctx, object.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: "test", FieldValidation: metav1.FieldValidationStrict, Force: &force,
	})
	if err == nil && len(a.warnings) > 0 {
		err = fmt.Errorf("accepted with warnings: %q", a.warnings)
	}
	return err
}
