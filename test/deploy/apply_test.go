package deploy_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/manifest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// A real API server with the CustomResourceDefinitions of the Prometheus operator accepts every object, without a warning, and
// each upgrade from one installation to the next one, also from the chart of the release before. It would reject a changed selector.
func TestHelmOnARealServer(t *testing.T) {
	config := stacktest.Config(t)
	a := manifest.NewApplier(config, "")
	client := kubernetes.NewForConfigOrDie(config)
	for _, name := range []string{release, "shop", "pay", "elsewhere"} {
		labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus-operator/prometheus-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"servicemonitors", "podmonitors", "prometheusrules"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "example/prometheus-operator-crd/monitoring.coreos.com_"+kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range manifest.Decode(t, string(text)) {
			if err := a.Apply(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The server takes a moment to serve a new kind.
	apply := func(o *unstructured.Unstructured) {
		t.Helper()
		await.Within(t, time.Minute, o.GetKind()+" "+o.GetName(), func(ctx context.Context) error { return a.Apply(ctx, o) })
	}
	if old := previous(t); old != nil {
		for _, name := range []string{"defaults", "everything", "sharding"} {
			text, err := renderChart(old, installations[name])
			if err != nil {
				t.Fatalf("%s, of the release before: %v", name, err)
			}
			for _, o := range manifest.Decode(t, text) {
				apply(o)
			}
		}
	}
	applied := map[string]bool{}
	for _, values := range []string{
		installations["defaults"], installations["everything"], installations["sharding"], installations["audit"],
		"{prometheusRule: {enabled: true}, podMonitor: {enabled: true, namespaces: [shop]}, dashboards: {enabled: true, namespace: elsewhere}}",
	} {
		for _, o := range objects(t, values) {
			applied[o.GetKind()] = true
			apply(o)
		}
	}
	for _, kind := range []string{
		"ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "PrometheusRule",
		"Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "ServiceMonitor", "StatefulSet",
	} {
		if !applied[kind] {
			t.Errorf("no %s was applied", kind)
		}
	}
	// The server rejects objects with an unknown field.
	for _, o := range objects(t, installations["everything"]) {
		if err := unstructured.SetNestedField(o.Object, true, "metadata", "nosuchfield"); err != nil {
			t.Fatal(err)
		}
		if a.Apply(t.Context(), o) == nil {
			t.Errorf("%s %s: a field that does not exist is accepted", o.GetKind(), o.GetName())
		}
	}
}

// previous returns the chart of the release before, or of the last commit before v0.1.0 was prepared. It is nil in a clone without history.
func previous(t *testing.T) *chart.Chart {
	t.Helper()
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
	}
	commit := "d483661b"
	if tag, err := git("describe", "--tags", "--abbrev=0", "HEAD^"); err == nil {
		commit = strings.TrimSpace(string(tag))
	}
	archive, err := git("archive", commit, "deploy")
	if err != nil {
		t.Logf("SKIPPED: the upgrade from %s, which this clone does not have: %v", commit, err)
		return nil
	}
	dir := t.TempDir()
	extract := exec.CommandContext(t.Context(), "tar", "-x", "-C", dir)
	extract.Stdin = bytes.NewReader(archive)
	if out, err := extract.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	old, err := loader.Load(filepath.Join(dir, "deploy/helm/informer-exporter"))
	if err != nil {
		t.Fatal(err)
	}
	return old
}
