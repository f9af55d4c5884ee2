package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// checkCluster runs the command check.
func checkCluster(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, progress output
	err = run(t.Context(), append([]string{"check"}, args...), &out, &progress)
	if !strings.HasPrefix(progress.String(), "checking http") && exitCode(err) != exitUsage {
		t.Errorf("stderr has no progress: %q", &progress)
	}
	return out.String(), err
}

func TestCheckHealthyCluster(t *testing.T) {
	out, err := checkCluster(t, kubeconfigOf(t, stacktest.Config(t)), "--namespace="+stacktest.Namespace(t))
	if err != nil || !strings.HasPrefix(out, "No problems in ") || exitCode(err) != exitOK {
		t.Errorf("error %v:\n%s", err, out)
	}
}

// Resources that cannot be watched and objects with problems are reported by name. Objects without problems are not reported.
func TestCheckFaults(t *testing.T) {
	plane, namespace := stacktest.ControlPlane(t), stacktest.Namespace(t)
	admin := kubernetes.NewForConfigOrDie(plane.Config())
	create := metav1.CreateOptions{}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Terminating, blocked by a finalizer.
	maps := admin.CoreV1().ConfigMaps(namespace)
	must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}, create))
	must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: []string{"example.com/hold"}}}, create))
	must(nil, maps.Delete(t.Context(), "held", metav1.DeleteOptions{}))
	t.Cleanup(func() {
		for _, name := range []string{"held", "kept"} {
			if _, err := maps.Patch(t.Context(), name, "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		}
	})
	// There is no controller manager: nothing observes the generation of the first Deployment or deletes the namespace.
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	deployments := admin.AppsV1().Deployments(namespace)
	for _, name := range []string{"lagging", "observed"} {
		d, err := deployments.Create(t.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, Template: template},
		}, create)
		must(nil, err)
		if name == "observed" {
			d.Status.ObservedGeneration = d.Generation
			must(deployments.UpdateStatus(t.Context(), d, metav1.UpdateOptions{}))
		}
	}
	gone := stacktest.Namespace(t)
	must(nil, admin.CoreV1().Namespaces().Delete(t.Context(), gone, metav1.DeleteOptions{}))
	// Leases: expired, held, and of a program that was removed days ago.
	for name, ago := range map[string]time.Duration{"expired": time.Hour, "led": -time.Hour, "removed": 72 * time.Hour} {
		renewed := metav1.NewMicroTime(time.Now().Add(-ago))
		must(admin.CoordinationV1().Leases(namespace).Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("pod-1"), LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &renewed},
		}, create))
	}
	account := stacktest.NewAccount(t, plane, namespace, "checker")
	account.Grant(t, "", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list", "watch"}})
	account.Grant(t, namespace,
		rbacv1.PolicyRule{APIGroups: []string{"", "apps", "coordination.k8s.io"}, Resources: []string{"configmaps", "deployments", "leases"}, Verbs: []string{"get", "list", "watch"}})

	account.Grant(t, namespace, rbacv1.PolicyRule{APIGroups: []string{"absent.example.com"}, Resources: []string{"widgets"}, Verbs: []string{"list", "watch"}})

	config := write(t, "config.yaml", "resources: [configmaps, namespaces, deployments.apps, leases.coordination.k8s.io, secrets, widgets.absent.example.com]")
	args := []string{kubeconfigOf(t, account.Config), "--config.file=" + config, "--namespace=" + namespace}
	out, err := checkCluster(t, append(args, "--older-than=0s", "--output=json")...)
	if !errors.Is(err, errProblems) || exitCode(err) != exitError {
		t.Errorf("error %v", err)
	}
	var report check.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	var got []string
	for _, p := range report.Problems {
		if p.Resource == "namespaces" && p.Name != gone {
			continue // of another test
		}
		line := fmt.Sprintf("%s %s %s/%s: %s", p.Type, p.Resource, p.Namespace, p.Name, p.Detail)
		line = strings.NewReplacer(namespace, "NAMESPACE", gone, "GONE").Replace(line)
		got = append(got, line)
		if old := p.AgeSeconds > 0; old != (p.Name != "") {
			t.Errorf("age %v of %s", p.AgeSeconds, line)
		}
	}
	want := []string{
		"forbidden secrets NAMESPACE/: grant list and watch on it, or leave it out of resources in the configuration file",
		"missing widgets.absent.example.com NAMESPACE/: install its CustomResourceDefinition, or correct its name, version or scope in the configuration file",
		"no_leader leases.coordination.k8s.io NAMESPACE/expired: last holder pod-1",
		"terminating configmaps NAMESPACE/held: blocked by example.com/hold",
		"terminating namespaces /GONE: its contents are not deleted; see its status.conditions",
		"generation_lag deployments.apps NAMESPACE/lagging: generation 1, observed 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "Leases that expired more than 24h ago are omitted, because their programs have probably been removed: 1") {
		t.Errorf("notes %q", report.Notes)
	}

	// With the objectives of the alerts, only the Lease is old enough.
	table, err := checkCluster(t, args...)
	if !errors.Is(err, errProblems) || !strings.Contains(table, "last holder pod-1") || strings.Contains(table, "held") || strings.Contains(table, "lagging") {
		t.Errorf("error %v:\n%s", err, table)
	}
}

// A cluster that cannot be checked is reported neither as healthy nor as having problems.
func TestCheckNothing(t *testing.T) {
	for _, args := range [][]string{
		{"--kubeconfig=" + unreachable(t)},
		{"--kubeconfig=" + unreachable(t), "--context=absent"},
		{"--kubeconfig=" + unreachable(t), "--timeout=0s"},
		{"--kubeconfig=" + unreachable(t), "--namespace=Not_valid"},
		{"--output=xml"},
	} {
		if out, err := checkCluster(t, args...); exitCode(err) != exitUsage || errors.Is(err, errProblems) || out != "" {
			t.Errorf("%v: error %v, output %q", args, err, out)
		}
	}
}

// As a kubectl plugin, the program runs the command check, or explain.
func TestKubectlPlugin(t *testing.T) {
	for _, tc := range []struct{ args, want []string }{
		{[]string{"/usr/local/bin/kubectl-informers", "-o", "json"}, []string{"check", "-o", "json"}},
		{[]string{"kubectl_complete-informers", "-o", ""}, []string{"__complete", "check", "-o", ""}},
		{[]string{"kubectl-informers", "explain", "pods/shop/web"}, []string{"explain", "pods/shop/web"}},
		{[]string{"kubectl_complete-informers", "explain", "--"}, []string{"__complete", "explain", "--"}},
		{[]string{"kubectl-informers"}, []string{"check"}},
		{[]string{"informer-exporter", "cost"}, []string{"cost"}},
	} {
		if got := arguments(tc.args); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.args, got, tc.want)
		}
	}
}
