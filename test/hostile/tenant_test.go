package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// forged is a text that a tenant writes wherever the API server accepts any text.
const forged = "pod-1\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\n\x1b[31mk8s_lease_expired{lease=\"controller\"} 1\" \xff"

// leasesOfTenant and finalizersOfTenant exceed the limits on series: 500 Leases, and 20 finalizers per object. Two objects
// share the finalizers.
const leasesOfTenant, finalizersOfTenant = 600, 1100

// A tenant that may create objects in a namespace changes no series of another one, and cannot forge a line in the exporter's
// log.
func TestTenant(t *testing.T) {
	plane, victim, tenant := stacktest.ControlPlane(t), stacktest.Namespace(t), stacktest.Namespace(t)
	admin := kubernetes.NewForConfigOrDie(plane.Config())
	held := createLease(t, admin, victim, "controller", "pod-1", time.Hour)
	createLease(t, admin, victim, "stopped", "pod-2", time.Second)
	createTerminating(t, admin, victim, "example.com/cleanup")
	createDeployment(t, admin, victim)

	account := stacktest.NewAccount(t, plane, tenant, "exporter")
	account.Grant(t, "", manifestRules(t)...)
	p := start(t, build(t), account.Config, "{}\n")
	want := map[string]float64{
		catalog.LeaseExpired.Name + "/controller": 0, catalog.LeaseExpired.Name + "/stopped": 1,
		catalog.LeaseHolderInfo.Name + "/controller/pod-1": 1, catalog.LeaseHolderInfo.Name + "/stopped/pod-2": 1,
		catalog.ObjectTerminating.Name + "/serviceaccounts/example.com/cleanup": 1,
		catalog.ObjectGenerationLag.Name + "/deployments.apps":                  1,
	}
	p.await(t, "the signals of the other namespace", func(samples metricstest.Samples) error { return equal(signalsOf(samples, victim), want) })

	mallory := stacktest.NewAccount(t, plane, tenant, "mallory")
	mallory.Grant(t, tenant,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "serviceaccounts"}, Verbs: []string{"create", "delete"}},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}})
	config := rest.CopyConfig(mallory.Config)
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	if _, err := client.CoordinationV1().Leases(victim).Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "forged"}}, metav1.CreateOptions{}); err == nil {
		t.Fatal("the tenant may create Leases in the other namespace")
	}
	createLease(t, client, tenant, "controller", forged, time.Second) // the other's name, expired
	for i := range leasesOfTenant {
		createLease(t, client, tenant, fmt.Sprintf("made-up-%d", i), fmt.Sprintf("%d %s", i, forged), time.Hour)
	}
	for part := range 2 {
		var finalizers []string
		for i := range finalizersOfTenant / 2 {
			finalizers = append(finalizers, fmt.Sprintf("tenant.example.com/%d-%d", part, i))
		}
		createTerminating(t, client, tenant, finalizers...)
	}
	for range 20 {
		createDeployment(t, client, tenant)
	}
	p.await(t, "all that the tenant has created", func(samples metricstest.Samples) error {
		return errors.Join(
			atLeast(samples.Sum(catalog.LeaseObjects.Name, "purpose", "leader"), leasesOfTenant),
			atLeast(samples.Sum(catalog.ObjectGenerationLag.Name, "namespace", tenant), 20),
			atLeast(samples.Sum(catalog.ObjectOverflow.Name, "signal", "leases"), 1),
			atLeast(samples.Sum(catalog.ObjectTerminating.Name, "namespace", tenant, "finalizer", "other"), 2), // one for each object
		)
	})
	// A Lease that is created and renewed after that is still reported.
	createLease(t, admin, victim, "late", "pod-1", time.Hour)
	want[catalog.LeaseExpired.Name+"/late"], want[catalog.LeaseHolderInfo.Name+"/late/pod-1"] = 0, 1
	held.Spec.HolderIdentity = ptr.To("pod-3")
	if _, err := admin.CoordinationV1().Leases(victim).Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	delete(want, catalog.LeaseHolderInfo.Name+"/controller/pod-1")
	want[catalog.LeaseHolderInfo.Name+"/controller/pod-3"] = 1
	p.await(t, "the signals of the other namespace, exact", func(samples metricstest.Samples) error {
		if n := len(samples.Select(catalog.LeaseExpired.Name)); n > 500 {
			t.Errorf("%d Leases with series", n)
		}
		if n := len(samples.Select(catalog.ObjectTerminating.Name, "namespace", tenant)); n > 2*20+1 {
			t.Errorf("%d finalizers with series", n)
		}
		return equal(signalsOf(samples, victim), want)
	})
	checkLog(t, p)
}

// A tenant writes every field of an object, each as large as the API server allows, and the exporter keeps little of it. Audits of the
// resources go on.
func TestTenantMemory(t *testing.T) {
	plane, tenant := stacktest.ControlPlane(t), stacktest.Namespace(t)
	account := stacktest.NewAccount(t, plane, tenant, "exporter")
	account.Grant(t, "", manifestRules(t)...)
	p := start(t, build(t), account.Config, "resources: [configmaps, deployments.apps, leases.coordination.k8s.io]\nchecks: {audit: 1s, freshness: 1s}\n")
	mallory := stacktest.NewAccount(t, plane, tenant, "mallory")
	mallory.Grant(t, tenant,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "delete"}},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}})
	config := rest.CopyConfig(mallory.Config)
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	const objects, large = 60, 900 << 10
	prefix := strings.Repeat(strings.Repeat("a", 63)+".", 3) + "example.com/"
	var finalizers []string
	labels, owners, fields := map[string]string{}, []metav1.OwnerReference(nil), []metav1.ManagedFieldsEntry(nil)
	for i := range large / 300 {
		name := fmt.Sprintf("%s%063d", prefix, i)
		finalizers = append(finalizers, name)
		labels[name] = strings.Repeat("v", 63)
		owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name[:250], UID: types.UID(fmt.Sprint(i))})
		fields = append(fields, metav1.ManagedFieldsEntry{Manager: fmt.Sprintf("%0128d", i), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")})
	}
	holder := strings.Repeat("h", large)
	for i, m := range []metav1.ObjectMeta{
		{Finalizers: finalizers}, {Labels: labels}, {OwnerReferences: owners}, {ManagedFields: fields}, {Annotations: map[string]string{"a": strings.Repeat("b", 255<<10)}},
	} {
		for n := range objects / 5 {
			m.Name = fmt.Sprintf("large-%d-%d", i, n)
			if _, err := client.CoreV1().ConfigMaps(tenant).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: m}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := client.CoreV1().ConfigMaps(tenant).Delete(t.Context(), m.Name, metav1.DeleteOptions{}); len(m.Finalizers) > 0 && err != nil {
				t.Fatal(err)
			}
			m.Annotations = nil
		}
	}
	for n := range objects {
		createLease(t, client, tenant, fmt.Sprintf("large-%d", n), holder, time.Hour)
	}
	for range objects / 5 { // which the exporter reads whole
		createDeployment(t, client, tenant, corev1.EnvVar{Name: "large", Value: holder})
	}
	audits := func(samples metricstest.Samples, informer string) float64 {
		return samples.Sum(catalog.InformerAudits.Name, "informer_type", informer, "result", "consistent")
	}
	before := map[string]float64{}
	p.await(t, "the objects and a small heap", func(samples metricstest.Samples) error {
		for _, informer := range []string{"configmaps", "deployments.apps", "leases.coordination.k8s.io"} {
			before[informer] = audits(samples, informer)
		}
		return errors.Join(
			atLeast(samples.Sum(catalog.LeaseObjects.Name, "purpose", "leader"), objects),
			atLeast(samples.Sum(catalog.ObjectTerminating.Name, "namespace", tenant, "informer_type", "configmaps"), objects/5),
			atLeast(samples.Sum(catalog.ObjectGenerationLag.Name, "namespace", tenant), objects/5),
			atLeast(-samples.Sum("go_memstats_heap_alloc_bytes"), -32<<20), // after a garbage collection
		)
	})
	p.await(t, "further audits", func(samples metricstest.Samples) error {
		var errs []error
		for informer, n := range before {
			errs = append(errs, atLeast(audits(samples, informer), n+2))
		}
		return errors.Join(errs...)
	})
	if peak := p.peak(); peak > containerLimit {
		t.Errorf("the exporter used %d MiB", peak)
	}
}

// manifestRules returns the permissions of the exporter in the manifests.
func manifestRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	data, err := os.ReadFile("../../deploy/kustomize/base/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

func createLease(t *testing.T, client kubernetes.Interface, namespace, name, holder string, lasting time.Duration) *coordinationv1.Lease {
	t.Helper()
	lease, err := client.CoordinationV1().Leases(namespace).Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(lasting.Seconds())), RenewTime: ptr.To(metav1.NowMicro()),
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// createTerminating creates and deletes an object with finalizers.
func createTerminating(t *testing.T, client kubernetes.Interface, namespace string, finalizers ...string) {
	t.Helper()
	accounts := client.CoreV1().ServiceAccounts(namespace)
	object, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "held-", Finalizers: finalizers}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.Delete(t.Context(), object.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createDeployment creates a Deployment, which no controller observes.
func createDeployment(t *testing.T, client kubernetes.Interface, namespace string, env ...corev1.EnvVar) {
	t.Helper()
	labels := map[string]string{"app": "x"}
	_, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{GenerateName: "app-"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x", Env: env}}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// signalsOf returns the values of the series about objects of a namespace, by the rest of their labels.
func signalsOf(samples metricstest.Samples, namespace string) map[string]float64 {
	found := map[string]float64{}
	for _, s := range samples {
		var key []string
		switch {
		case s.Labels["lease_namespace"] == namespace && (s.Name == catalog.LeaseExpired.Name || s.Name == catalog.LeaseHolderInfo.Name):
			key = []string{s.Name, s.Labels["lease"], s.Labels["holder"]}
		case s.Labels["namespace"] == namespace && (s.Name == catalog.ObjectTerminating.Name || s.Name == catalog.ObjectGenerationLag.Name):
			key = []string{s.Name, s.Labels["informer_type"], s.Labels["finalizer"]}
		default:
			continue
		}
		found[strings.TrimSuffix(strings.Join(key, "/"), "/")] = s.Value
	}
	return found
}

func equal(got, want map[string]float64) error {
	for series, value := range want {
		if v, ok := got[series]; !ok || v != value {
			return fmt.Errorf("%s is %v (%v), want %v", series, v, ok, value)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}

func atLeast(value, least float64) error {
	if value < least {
		return fmt.Errorf("%v, want %v", value, least)
	}
	return nil
}

// await waits until a scrape meets a condition.
func (p program) await(t *testing.T, what string, condition func(metricstest.Samples) error) {
	t.Helper()
	await.Within(t, 3*time.Minute, what, func(ctx context.Context) error {
		samples, err := metricstest.Scrape(ctx, p.url+"/metrics")
		if err != nil {
			return err
		}
		return condition(samples)
	})
}

// checkLog fails the test unless each line of the log is an object that the exporter has written.
func checkLog(t *testing.T, p program) {
	t.Helper()
	data, err := os.ReadFile(p.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(data)) {
		var entry struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "forged" || strings.ContainsRune(line, '\x1b') {
			t.Errorf("a line of the log: %q (%v)", line, err)
		}
		lines++
	}
	if lines == 0 {
		t.Error("the log is empty")
	}
}
