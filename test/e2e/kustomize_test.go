package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil" // pins the module with the CustomResourceDefinitions
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/manifest"
)

// TestManifestsAreAccepted applies the base to the real API server, strictly and without a warning, and verifies that
// its Pod meets the Pod Security Standard restricted.
func TestManifestsAreAccepted(t *testing.T) {
	c := theChain(t)
	applyBase(t, c.ControlPlane.Config())
	components := readObjects(t, deployPath(t, "kustomize/network-policy/networkpolicy.yaml"))
	for _, name := range []string{"configmap", "deployment", "networkpolicy", "service"} {
		components = append(components, readObjects(t, deployPath(t, "kustomize/audit/"+name+".yaml"))...)
	}
	for _, object := range components {
		if err := manifest.NewApplier(c.ControlPlane.Config(), manifestNamespace).Apply(t.Context(), object); err != nil {
			t.Error(err)
		}
	}

	client := kubernetes.NewForConfigOrDie(c.ControlPlane.Config())
	await.Within(t, patience, "the Pod of the Deployment", func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods(manifestNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=exporter"})
		if err != nil || len(pods.Items) != 1 {
			return fmt.Errorf("got %d, %w", len(pods.Items), err)
		}
		return nil
	})
	service, err := client.CoreV1().Services(manifestNamespace).Get(t.Context(), "informer-exporter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods, err := client.CoreV1().Pods(manifestNamespace).List(t.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("the Service selects %d Pods, want 1 (%v)", len(pods.Items), err)
	}
	if port := service.Spec.Ports[0]; !hasPort(pods.Items[0], port.TargetPort.String()) {
		t.Errorf("no container has the port %s that the Service sends to", port.TargetPort.String())
	}
	policy, err := client.NetworkingV1().NetworkPolicies(manifestNamespace).Get(t.Context(), "informer-exporter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods, err = client.CoreV1().Pods(manifestNamespace).List(t.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&policy.Spec.PodSelector)})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("the NetworkPolicy selects %d Pods, want 1 (%v)", len(pods.Items), err)
	}
	if port := policy.Spec.Ingress[0].Ports[0].Port.String(); !hasPort(pods.Items[0], port) {
		t.Errorf("no container has the port %s that the NetworkPolicy allows", port)
	}

	// The server rejects objects with an unknown field.
	bad := render(t, "kustomize/base")
	for _, object := range bad {
		if err := unstructured.SetNestedField(object.Object, true, "metadata", "nosuchfield"); err != nil {
			t.Fatal(err)
		}
		if err := manifest.NewApplier(c.ControlPlane.Config(), manifestNamespace).Apply(t.Context(), object); err == nil {
			t.Errorf("%s %s: a field that does not exist is accepted", object.GetKind(), object.GetName())
		}
	}
}

func hasPort(pod corev1.Pod, name string) bool {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == name {
				return true
			}
		}
	}
	return false
}

// TestOperatorObjectsAreAccepted applies the objects of the Prometheus operator, with its real CustomResourceDefinitions.
func TestOperatorObjectsAreAccepted(t *testing.T) {
	c := theChain(t)
	a := manifest.NewApplier(c.ControlPlane.Config(), manifestNamespace)
	for _, kind := range []string{"servicemonitors", "podmonitors", "prometheusrules"} {
		file := filepath.Join(operatorModule(t), "example", "prometheus-operator-crd", "monitoring.coreos.com_"+kind+".yaml")
		for _, object := range readObjects(t, file) {
			if err := a.Apply(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
	}
	objects := append(render(t, "kustomize/servicemonitor"), monitorWithAuth(t))
	objects = append(objects, readObjects(t, deployPath(t, "kustomize/audit-servicemonitor/servicemonitor.yaml"))...)
	files, err := filepath.Glob(deployPath(t, "kubernetes/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated manifests: %v", err)
	}
	for _, file := range files {
		for _, object := range readObjects(t, file) {
			// The module of the grafana-operator, which has its definitions, is not available from the Go module proxy.
			if object.GetKind() != "GrafanaDashboard" {
				objects = append(objects, object)
			}
		}
	}
	kinds := map[string]int{}
	for _, object := range objects {
		kinds[object.GetKind()]++
		// The server takes a moment to serve a new kind.
		await.Within(t, patience, object.GetKind(), func(ctx context.Context) error { return a.Apply(ctx, object) })
	}
	for kind, want := range map[string]int{"ServiceMonitor": 3, "PodMonitor": 1, "PrometheusRule": 1, "ConfigMap": 1, "Deployment": 1} {
		if kinds[kind] < want {
			t.Errorf("%d of the kind %s were applied, want %d", kinds[kind], kind, want)
		}
	}
	for _, object := range objects {
		if !strings.HasPrefix(object.GetAPIVersion(), "monitoring.coreos.com/") {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, true, "spec", "nosuchfield"); err != nil {
			t.Fatal(err)
		}
		if err := a.Apply(t.Context(), object); err == nil {
			t.Errorf("%s %s: a field that does not exist is accepted", object.GetKind(), object.GetName())
		}
	}
}

// operatorModule returns the directory of the Prometheus operator's module in the module cache.
func operatorModule(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus-operator/prometheus-operator").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("module not found: %v", err)
	}
	return dir
}

// monitorWithAuth returns the ServiceMonitor of deploy/kustomize/servicemonitor with the component kubernetes-auth, as the
// component's comment says.
func monitorWithAuth(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"servicemonitor", "kubernetes-auth"} {
		path, err := filepath.Rel(dir, deployPath(t, "kustomize/"+name))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	overlay := fmt.Sprintf("resources: [%s]\ncomponents: [%s]\n", paths[0], paths[1])
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	objects := renderDir(t, dir)
	monitor := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "ServiceMonitor" })
	if monitor < 0 {
		t.Fatal("no ServiceMonitor")
	}
	endpoints, _, err := unstructured.NestedSlice(objects[monitor].Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 || endpoints[0].(map[string]any)["bearerTokenFile"] == nil {
		t.Errorf("Prometheus sends no token: %v, %v", endpoints, err)
	}
	if endpoints[0].(map[string]any)["scheme"] != "https" {
		t.Error("Prometheus sends its token in clear text")
	}
	return objects[monitor]
}
