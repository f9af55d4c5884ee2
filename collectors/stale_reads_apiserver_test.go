package collectors_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

var errBehind = errors.New("the cache trails")

// TestStaleReadsOnADelayedWatch covers P9: the events of a real watch are late, so that a reconcile reads what was there
// before its own writes. One that does not mind does its work twice.
func TestStaleReadsOnADelayedWatch(t *testing.T) {
	config := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, config)
	r := newRig(t, config)
	informer := r.factory.Core().V1().ConfigMaps()
	lister := informer.Lister().ConfigMaps(r.namespace)
	store := informer.Informer().GetStore()
	r.start()
	r.waitFor("synced", synced)
	direct := r.client.CoreV1().ConfigMaps(r.namespace)
	writes := collectors.NewWrites[string](r.obs, "c")

	// ensure creates what its owner is to have, unless the cache has it.
	ensure := func(owner string, heeds bool) error {
		if heeds && writes.Behind(owner, store) {
			return errBehind
		}
		selector := labels.Set{"owner": owner}
		if have, err := lister.List(selector.AsSelector()); err != nil || len(have) > 0 {
			return err
		}
		made, err := direct.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "made-", Labels: selector},
		}, metav1.CreateOptions{})
		if err == nil && heeds {
			writes.Wrote(owner, made)
		}
		return err
	}
	made := func(owner string) int {
		list, err := direct.List(t.Context(), metav1.ListOptions{LabelSelector: labels.Set{"owner": owner}.String()})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	const counter = "controller_stale_reads_total{controller=c}"

	r.create("updated")
	r.waitFor("cached", func(metricstest.Snapshot) bool { _, err := lister.Get("updated"); return err == nil })
	proxy.Delay(time.Hour)
	for range 2 {
		if err := ensure("heedless", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := ensure("careful", true); err != nil {
		t.Fatal(err)
	}
	if err := ensure("careful", true); !errors.Is(err, errBehind) {
		t.Errorf("a read before the write is seen: %v", err)
	}
	if n := made("heedless"); n != 2 {
		t.Errorf("%d objects were made by a stale read: there was none", n)
	}
	// By object: the cache has the one of before the update.
	updated, err := direct.Patch(t.Context(), "updated", types.MergePatchType, []byte(`{"data":{"k":"new"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	writes.Wrote("updated", updated)
	if old, err := lister.Get("updated"); err != nil || old.Data["k"] != "" || !writes.Read("updated", old) {
		t.Errorf("the read of %v is not stale, %v", old, err)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{counter: 2})

	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	r.waitFor("the cache has all", func(s metricstest.Snapshot) bool { return s["k8s_informer_watch_events_total{type=modified}"] == 1 })
	r.waitFor("the store has all", func(metricstest.Snapshot) bool {
		got, err := lister.Get("updated")
		return err == nil && got.Data["k"] == "new" && !writes.Read("updated", got)
	})
	before := metricstest.Take(t, r.registry)[counter]
	for range 2 {
		if err := ensure("careful", true); err != nil {
			t.Errorf("the cache has caught up: %v", err)
		}
	}
	if n := made("careful"); n != 1 {
		t.Errorf("%d objects were made", n)
	}
	check(t, metricstest.Take(t, r.registry), metricstest.Snapshot{counter: before})
}
