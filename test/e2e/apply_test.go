package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/informer-exporter/informer-exporter/internal/testenv/manifest"
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
	return manifest.Decode(t, string(text))
}

func readObjects(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Decode(t, string(text))
}

// applyBase applies deploy/kustomize/base to the chain's cluster, which may already have it.
func applyBase(t *testing.T, config *rest.Config) {
	t.Helper()
	a := manifest.NewApplier(config, manifestNamespace)
	for _, object := range render(t, "kustomize/base") {
		if err := a.Apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}
