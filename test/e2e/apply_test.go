package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// manifestNamespace is the namespace and the name of the objects in the manifests.
const manifestNamespace = "informer-exporter"

// deployPath returns a path below deploy.
func deployPath(t *testing.T, path string) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "deploy", filepath.FromSlash(path))
}

// render returns the objects of a kustomization below deploy.
func render(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	return renderDir(t, deployPath(t, path))
}

func renderDir(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(text))
}

func readObjects(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(text))
}

func decode(t *testing.T, text string) (objects []*unstructured.Unstructured) {
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

// applier applies objects like `kubectl apply --server-side --validate=strict`, and treats warnings as errors.
type applier struct {
	client   dynamic.Interface
	mapper   *restmapper.DeferredDiscoveryRESTMapper
	warnings warnings
}

func newApplier(config *rest.Config) *applier {
	a := &applier{}
	config.QPS, config.WarningHandlerWithContext = -1, &a.warnings
	a.client = dynamic.NewForConfigOrDie(config)
	a.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	return a
}

type warnings []string

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*w = append(*w, text)
}

// apply applies an object; a namespaced object without a namespace gets that of the manifests.
func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		a.mapper.Reset()
		return err
	}
	var client dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := object.GetNamespace()
		if namespace == "" {
			namespace = manifestNamespace
		}
		client = a.client.Resource(mapping.Resource).Namespace(namespace)
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	a.warnings = nil
	force := true
	_, err = client.Patch(ctx, object.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: "e2e", FieldValidation: metav1.FieldValidationStrict, Force: &force,
	})
	if err == nil && len(a.warnings) > 0 {
		err = fmt.Errorf("accepted with warnings: %q", a.warnings)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// applyBase applies deploy/kustomize/base to the chain's cluster, which may already have it.
func applyBase(t *testing.T, config *rest.Config) {
	t.Helper()
	a := newApplier(config)
	for _, object := range render(t, "kustomize/base") {
		if err := a.apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}
