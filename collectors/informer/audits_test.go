package informer_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const (
	consistentCount = "k8s_informer_audits_total{result=consistent}"
	differentCount  = "k8s_informer_audits_total{result=different}"
	auditsPrefix    = "k8s_informer_audit"
)

func differencesOf(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for _, difference := range []string{"missing", "extra", "stale", "wrong_uid", "index", "key_collision"} {
		if n, ok := s["k8s_informer_audit_differences{difference="+difference+"}"]; ok {
			found[difference] = n
		}
	}
	return found
}

// byLabel indexes by a label that changes behind the store's back, without a data race: a consumer that changed a cached
// object would cause one.
func byLabel(labels *sync.Map) cache.Indexers {
	return cache.Indexers{"label": func(obj any) ([]string, error) {
		label, _ := labels.Load(obj.(*corev1.ConfigMap).Name)
		return []string{fmt.Sprint(label)}, nil
	}}
}

var nothing = metricstest.Snapshot{"missing": 0}

// TestAudit covers S11, P8 and P9: a cache larger than a page is consistent with a real API server while it changes. Each
// type of tampering is detected as such, and confirmed before it is reported.
func TestAudit(t *testing.T) {
	t.Parallel()
	config := stacktest.Config(t)
	var labels sync.Map
	c := newChecked(t, configs{config, config, config}, collectors.Checks{Audit: 200 * time.Millisecond}, byLabel(&labels))
	const objects = 510
	for n := range objects {
		c.create(fmt.Sprint("object-", n))
	}
	if before := metricstest.Take(t, c.registry); len(differencesOf(before)) != 0 {
		t.Errorf("before the first audit: %v", differencesOf(before))
	}
	if last := informer.Statuses(c.obs)[0].LastAudit; last != (informer.AuditStatus{Interval: 200 * time.Millisecond}) {
		t.Errorf("before the first audit: %+v", last)
	}
	c.run()
	before := c.waitFor("a first audit", func(s metricstest.Snapshot) bool { return s[consistentCount] > 0 })
	differencesOf(before).Equal(t, nothing)
	c.create("later")
	after := c.waitFor("consistent", func(s metricstest.Snapshot) bool {
		return s[consistentCount] >= before[consistentCount]+3 && s["k8s_informer_watch_events_total{type=added}"] == 1
	})
	after.Since(before, "k8s_informer_last_event", "k8s_informer_watch_events_total", "k8s_informer_objects", "k8s_informer_propagation", "k8s_informer_resource_version{", auditsPrefix).Equal(t, metricstest.Snapshot{})
	if after[differentCount]+after["k8s_informer_audits_total{result=error}"] != 0 || after["k8s_informer_audit_duration_seconds_count"] != after[consistentCount] {
		t.Errorf("audits:\n%s", after)
	}

	i := c.informer.GetIndexer()
	get := func(n int) *corev1.ConfigMap {
		object, exists, err := i.GetByKey(fmt.Sprintf("%s/object-%d", c.namespace, n))
		if err != nil || !exists {
			t.Fatal(exists, err)
		}
		return object.(*corev1.ConfigMap)
	}
	missing, stale, wrong := get(1), get(2), get(3)
	extra := missing.DeepCopy()
	extra.Name = "never-created"
	old := stale.DeepCopy()
	old.ResourceVersion = missing.ResourceVersion
	other := wrong.DeepCopy()
	other.UID = "of-another-life"
	for _, err := range []error{i.Delete(missing), i.Add(extra), i.Update(old), i.Update(other)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	labels.Store("object-4", "changed")
	c.create("nudge") // tampering has also changed the version of the store; the next event corrects it
	c.waitFor("the nudge", func(s metricstest.Snapshot) bool { return s["k8s_informer_watch_events_total{type=added}"] == 2 })
	tampered := metricstest.Snapshot{"missing": 1, "extra": 1, "stale": 1, "wrong_uid": 1, "index": 2}
	found := c.waitFor("confirmed", func(s metricstest.Snapshot) bool { return maps.Equal(differencesOf(s), tampered) })
	if found[differentCount] < 2 {
		t.Errorf("confirmed after %v audits", found[differentCount])
	}
	if last := informer.Statuses(c.obs)[0].LastAudit; last.Result != "different" || last.Differences != 6 || last.At.IsZero() || last.At.After(time.Now()) {
		t.Errorf("the last audit is %+v", last)
	}

	labels.Delete("object-4")
	for _, err := range []error{i.Add(missing), i.Delete(extra), i.Update(stale), i.Update(wrong)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.create("nudge-2")
	repaired := c.waitFor("repaired", func(s metricstest.Snapshot) bool { return maps.Equal(differencesOf(s), nothing) })
	c.waitFor("consistent again", func(s metricstest.Snapshot) bool { return s[consistentCount] > repaired[consistentCount] })
	if last := informer.Statuses(c.obs)[0].LastAudit; last.Result != "consistent" || last.Differences != 0 {
		t.Errorf("the last audit is %+v", last)
	}
}

// TestChangeBehindACutConnection: changes while the watch is down are lag, not differences, and audits are skipped.
func TestChangeBehindACutConnection(t *testing.T) {
	t.Parallel()
	own := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, own)
	c := newChecked(t, configs{stacktest.Config(t), own, stacktest.Config(t)}, collectors.Checks{Audit: 100 * time.Millisecond, Freshness: 100 * time.Millisecond}, nil)
	c.run()
	c.create("before")
	before := c.waitFor("consistent", func(s metricstest.Snapshot) bool { return s[consistentCount] > 0 && s["k8s_informer_objects"] > 0 })
	proxy.Cut()
	c.create("during")
	during := c.waitFor("skipped", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_audits_total{result=skipped}"] > before["k8s_informer_audits_total{result=skipped}"]+2 && s[syncLag] > 1
	})
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	after := c.waitFor("consistent again", func(s metricstest.Snapshot) bool {
		return s[consistentCount] > during[consistentCount]+1 && s["k8s_informer_objects"] == before["k8s_informer_objects"]+1
	})
	if after[differentCount] != 0 || after[syncLag] != 0 { // a check in progress may have received the change
		t.Errorf("afterwards:\n%s", after)
	}
	differencesOf(after).Equal(t, nothing)
}

// TestCompactedVersion: if the server no longer has the version of the cache (410), neither differences nor lag are
// reported.
func TestCompactedVersion(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	config := plane.Config()
	c := newChecked(t, configs{config, config, config}, collectors.Checks{Audit: 200 * time.Millisecond, Freshness: 200 * time.Millisecond}, nil)
	c.run()
	checked := c.waitFor("checked", func(s metricstest.Snapshot) bool { return s[consistentCount] > 0 && s[freshCount] > 0 })
	if _, err := plane.Etcd.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The API server keeps the history that etcd has dropped until it is restarted.
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := c.waitFor("checked after the restart", func(s metricstest.Snapshot) bool {
		return s[consistentCount] > checked[consistentCount]+2 && s[freshCount] > checked[freshCount]+2 && s[syncLag] == 0
	})
	store, ok := c.informer.GetIndexer().(interface{ Bookmark(version string) })
	if !ok {
		t.Skip("the version of a store cannot be set before client-go v0.36")
	}
	after := c.waitFor("skipped", func(s metricstest.Snapshot) bool {
		store.Bookmark("2") // as if it had received nothing since, not even a bookmark
		return s["k8s_informer_audits_total{result=skipped}"] >= 2 && s[skippedCount] >= 2
	})
	after.Since(before, "k8s_informer_last_event", "k8s_informer_watch_events_total{type=bookmark}", "k8s_informer_audits_total{result=skipped}", skippedCount, consistentCount, freshCount, "k8s_informer_audit_duration", "k8s_informer_resource_version{").
		Equal(t, metricstest.Snapshot{})
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.waitFor("checked again", func(s metricstest.Snapshot) bool {
		return s[consistentCount] > after[consistentCount] && s[freshCount] > after[freshCount]
	})
}
