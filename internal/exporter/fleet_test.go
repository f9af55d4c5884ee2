package exporter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
	"github.com/informer-exporter/informer-exporter/internal/exporter/web"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// fleet is the exporters of all shards.
type fleet struct {
	exporters []*Exporter
	logs      []*logtest.Recorder
}

// newFleet starts all shards of a configuration. At the end of the test none of their goroutines may be left. others are
// the client configurations with which the test itself has opened connections.
func newFleet(t *testing.T, total int, cluster *rest.Config, what config.Config, others ...*rest.Config) *fleet {
	t.Helper()
	f := &fleet{}
	for ordinal := range total {
		written := &logtest.Recorder{}
		e := newReal(t, Options{REST: cluster, Config: what, Logger: written.Logger(), Shard: sharding.Shard{Ordinal: ordinal, Total: total}})
		f.exporters, f.logs = append(f.exporters, e), append(f.logs, written)
	}
	leaks := goleak.IgnoreCurrent()
	for _, e := range f.exporters {
		e.Start(klog.NewContext(t.Context(), logr.FromSlogHandler(e.log.Handler())))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for _, e := range f.exporters {
			if err := e.Stop(ctx); err != nil {
				t.Errorf("Stop: %v", err)
			}
		}
		for _, cluster := range append(others, cluster) {
			transport, err := rest.TransportFor(cluster)
			if err != nil {
				t.Error(err)
			}
			utilnet.CloseIdleConnectionsFor(transport)
		}
		leaktest.None(t, leaks)
	})
	return f
}

func (f *fleet) waitReady(t *testing.T) {
	t.Helper()
	for _, e := range f.exporters {
		waitReady(t, e)
	}
}

// rediscover triggers a discovery in every shard.
func (f *fleet) rediscover() {
	for _, e := range f.exporters {
		e.follower.DefinitionsChanged()
	}
}

// watchers returns the shards that watch a resource, with their scopes.
func (f *fleet) watchers(resource string) map[int][]string {
	found := map[int][]string{}
	for ordinal, e := range f.exporters {
		for _, target := range e.informers.List() {
			if target.Kind.Type() == resource {
				found[ordinal] = append(found[ordinal], target.ID().WatchNamespace())
			}
		}
	}
	return found
}

// waitSpread waits until every shard has logged n times that it splits a resource by the given strategy.
func (f *fleet) waitSpread(t *testing.T, resource, way string, n int) {
	t.Helper()
	for ordinal, l := range f.logs {
		await.True(t, fmt.Sprintf("shard %d spreads %s by %s", ordinal, resource, way), func() bool {
			return len(l.Find("objects", "resource", resource, "by", way)) == n
		}, func() string { return fmt.Sprint(l.Find("")) })
	}
}

// waitHeldOnce waits until each of the given ConfigMaps, by UID, is in the cache of exactly one informer of one shard, and no
// other object is in a cache. It returns the number of objects per shard.
func (f *fleet) waitHeldOnce(t *testing.T, uids []string) (have []int) {
	t.Helper()
	slices.Sort(uids)
	var held []string
	await.True(t, fmt.Sprintf("each of %d objects in one shard", len(uids)), func() bool {
		held, have = nil, make([]int, len(f.exporters))
		for ordinal, e := range f.exporters {
			for _, target := range e.informers.List() {
				if target.Kind.Type() == "configmaps" {
					for _, o := range target.Shared.GetStore().List() {
						held = append(held, string(o.(metav1.Object).GetUID()))
						have[ordinal]++
					}
				}
			}
		}
		slices.Sort(held)
		return slices.Equal(held, uids)
	}, func() string { return fmt.Sprintf("%d in %v:\nhave %v\nwant %v", len(held), have, held, uids) })
	return have
}

// waitChecked waits until every informer of ConfigMaps has been audited again, and verifies that no audit or freshness check of
// any shard has found a difference.
func (f *fleet) waitChecked(t *testing.T) {
	t.Helper()
	begin := time.Now()
	for _, e := range f.exporters {
		await.True(t, "audits of ConfigMaps", func() bool {
			return !slices.ContainsFunc(e.status.Informers(), func(s status.Informer) bool {
				return s.ID.Type() == "configmaps" && (s.LastAudit.At.Before(begin) || s.LastAudit.Result != "consistent")
			})
		}, func() string { return get(e, web.InformersPath).Body.String() })
		if audits := exportertest.Values(t, e.Gatherer(), catalog.InformerAudits.Name, "result"); audits["different"] != 0 {
			t.Errorf("audits: %v", audits)
		}
		if checks := exportertest.Values(t, e.Gatherer(), catalog.InformerFreshnessChecks.Name, "result"); checks["lagging"] != 0 {
			t.Errorf("freshness checks: %v", checks)
		}
	}
}

// checkNoWarnings fails the test if a warning or an error was logged.
func (f *fleet) checkNoWarnings(t *testing.T) {
	t.Helper()
	for ordinal, l := range f.logs {
		for _, ln := range warnings(l) {
			t.Errorf("shard %d has logged %+v", ordinal, ln)
		}
	}
}

var hasty = config.Checks{Freshness: every(time.Second), Audit: every(time.Second)}

// label marks the ConfigMaps of one test.
type label string

func (l label) selector() string { return string(l) + "=yes" }

func (l label) create(t *testing.T, client kubernetes.Interface, namespace string, n int) {
	t.Helper()
	for range n {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "one-of-many-", Labels: map[string]string{string(l): "yes"}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// deleteAll deletes the ConfigMaps of the test in a namespace.
func (l label) deleteAll(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	err := client.CoreV1().ConfigMaps(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: l.selector()})
	if err != nil {
		t.Fatal(err)
	}
}

// uids returns the UIDs of all ConfigMaps of the test.
func (l label) uids(t *testing.T, client kubernetes.Interface) []string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: l.selector()})
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]bool{}
	for _, o := range list.Items {
		uids[string(o.UID)] = true
	}
	return slices.Collect(maps.Keys(uids))
}
