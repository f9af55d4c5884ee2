//go:build !clientgo_before_0_36

package controllers_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

var errBehind = errors.New("the cache is stale")

// TestStaleReadsOnADelayedWatch covers P9: the events of a real watch are delayed, so that a reconcile does not see its own
// writes in the cache. Without Writes, it repeats its work.
func TestStaleReadsOnADelayedWatch(t *testing.T) {
	proxy, config := stacktest.Proxied(t)
	r := newRig(t, config)
	informer := r.factory.Core().V1().ConfigMaps()
	lister := informer.Lister().ConfigMaps(r.namespace)
	store := informer.Informer().GetStore()
	r.start()
	direct := r.client.CoreV1().ConfigMaps(r.namespace)
	writes := controllers.NewWrites[string](r.obs, "c")

	// ensure creates the object of an owner, unless the cache has it.
	ensure := func(owner string, careful bool) error {
		if careful && writes.Behind(owner, store) {
			return errBehind
		}
		selector := labels.Set{"owner": owner}
		if have, err := lister.List(selector.AsSelector()); err != nil || len(have) > 0 {
			return err
		}
		created, err := direct.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "created-", Labels: selector},
		}, metav1.CreateOptions{})
		if err == nil && careful {
			writes.Wrote(owner, created)
		}
		return err
	}
	count := func(owner string) int {
		list, err := direct.List(t.Context(), metav1.ListOptions{LabelSelector: labels.Set{"owner": owner}.String()})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	const counter = "controller_stale_reads_total{controller=c}"

	if _, err := direct.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "updated"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.NoError(t, "the object is in the cache", func() error { _, err := lister.Get("updated"); return err })
	proxy.Delay(time.Hour)
	for range 2 {
		if err := ensure("careless", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := ensure("careful", true); err != nil {
		t.Fatal(err)
	}
	if err := ensure("careful", true); !errors.Is(err, errBehind) {
		t.Errorf("a read before the write has arrived: %v", err)
	}
	if n := count("careless"); n != 2 {
		t.Errorf("%d objects were created, so no read was stale", n)
	}
	// The cache has the object from before the update.
	updated, err := direct.Patch(t.Context(), "updated", types.MergePatchType, []byte(`{"data":{"k":"new"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	writes.Wrote("updated", updated)
	if old, err := lister.Get("updated"); err != nil || old.Data["k"] != "" || !writes.Stale("updated", old) {
		t.Errorf("%v is not stale, %v", old, err)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{counter: 2})

	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the cache has all writes", func() bool {
		got, err := lister.Get("updated")
		return err == nil && got.Data["k"] == "new" && !writes.Stale("updated", got)
	})
	before := metricstest.Take(t, r.registry)[counter]
	for range 2 {
		if err := ensure("careful", true); err != nil {
			t.Errorf("the cache has caught up: %v", err)
		}
	}
	if n := count("careful"); n != 1 {
		t.Errorf("%d objects were created", n)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{counter: before})
}
