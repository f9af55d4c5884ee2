package exporter

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The exporter reports Leases, terminating objects and generation lag of a real cluster, until the resources are no longer
// watched.
func TestObjectsOfACluster(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	client := kubernetes.NewForConfigOrDie(admin)
	e := newReal(t, Options{REST: admin, Config: config.Config{
		Namespaces: []string{namespace},
		Resources:  []config.Resource{{Name: "configmaps"}, {Name: "leases.coordination.k8s.io"}, {Name: "deployments.apps"}, {Name: "services"}},
	}})
	run(t, e, admin)
	waitReady(t, e)
	reports := func(what string, m catalog.Definition, label string, want map[string]float64) {
		t.Helper()
		await.True(t, what, func() bool {
			return fmt.Sprint(exportertest.Values(t, e.Gatherer(), m.Define().Name, label)) == fmt.Sprint(want)
		}, func() string { return fmt.Sprint(exportertest.Values(t, e.Gatherer(), m.Define().Name, label)) })
	}
	terminating := map[string]float64{"configmaps": 0, "leases.coordination.k8s.io": 0, "deployments.apps": 0, "services": 0}
	reports("no terminating objects", catalog.ObjectTerminating, "informer_type", terminating)
	reports("no generation lag", catalog.ObjectGenerationLag, "informer_type", map[string]float64{"deployments.apps": 0})

	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("holder"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: ptr.To(metav1.NowMicro()), LeaseTransitions: ptr.To[int32](5),
	}}
	if _, err := client.CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("the holder", catalog.LeaseHolderInfo, "holder", map[string]float64{"holder": 1})
	reports("its transitions", catalog.LeaseTransitions, "lease", map[string]float64{"lock": 5})
	reports("its state", catalog.LeaseExpired, "lease_namespace", map[string]float64{namespace: 0})

	cluster := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), cluster, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	terminating["configmaps"] = 1
	reports("one terminating object", catalog.ObjectTerminating, "informer_type", terminating)

	labels := map[string]string{"app": "test"}
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("one object with generation lag", catalog.ObjectGenerationLag, "informer_type", map[string]float64{"deployments.apps": 1})

	var left []informers.Spec
	for _, target := range e.informers.List() {
		if target.Kind.Type() == "configmaps" {
			left = append(left, target.Spec)
		}
	}
	if err := e.informers.Replace(left); err != nil {
		t.Fatal(err)
	}
	reports("configmaps only", catalog.ObjectTerminating, "informer_type", map[string]float64{"configmaps": 1})
	for _, m := range []catalog.Definition{catalog.ObjectGenerationLag, catalog.LeaseExpired, catalog.LeaseHolderInfo, catalog.LeaseObjects} {
		reports("no "+m.Define().Name, m, m.Define().Labels[0].Name, map[string]float64{})
	}
	if _, err := client.CoreV1().ConfigMaps(namespace).Patch(t.Context(), "held", apitypes.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("no terminating objects again", catalog.ObjectTerminating, "informer_type", map[string]float64{"configmaps": 0})
}

// Without a connection, the exporter does not report Leases as expired. Once reconnected, it reports those that were not renewed.
func TestLeasesOfAClusterOutOfReach(t *testing.T) {
	t.Parallel()
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	proxy, through := stacktest.Proxied(t)
	const seconds = 15 // enough to notice that the connection is gone
	e := newReal(t, Options{REST: through, Config: config.Config{
		Namespaces: []string{namespace}, Resources: []config.Resource{{Name: "leases.coordination.k8s.io"}},
	}})
	start(t, e)
	waitReady(t, e)
	expired := func() map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.LeaseExpired.Name, "lease")
	}
	lag := func() float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSyncLag.Name, "informer_type")["leases.coordination.k8s.io"]
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("holder"), LeaseDurationSeconds: ptr.To[int32](seconds), RenewTime: ptr.To(metav1.NowMicro()),
	}}
	if _, err := kubernetes.NewForConfigOrDie(admin).CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the Lease", func() bool { return len(expired()) == 1 })
	proxy.Cut()
	await.True(t, "a lag of more than the Lease's duration", func() bool {
		if expired()["lock"] != 0 {
			t.Fatal("the exporter reports an expired Lease without a connection")
		}
		return lag() > seconds+1
	}, func() string { return fmt.Sprint(lag()) })
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the Lease is reported as expired", func() bool { return expired()["lock"] == 1 }, func() string { return fmt.Sprint(lag()) })
}
