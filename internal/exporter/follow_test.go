package exporter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// definer defines custom resources named widgets in several groups.
type definer struct{ definitions dynamic.ResourceInterface }

// newDefiner returns a definer. At the end of the test it deletes its groups, so that other tests do not see them.
func newDefiner(t *testing.T, cluster *rest.Config, groups ...string) *definer {
	t.Helper()
	w := &definer{dynamic.NewForConfigOrDie(cluster).Resource(stack.Definitions)}
	t.Cleanup(func() { w.undefine(t, groups...) })
	return w
}

// define creates or changes a definition. The versions are in Kubernetes' order of preference; one with a leading minus is not
// served.
func (w *definer) define(t *testing.T, group string, versions ...string) {
	t.Helper()
	var list []stack.Version
	for _, v := range versions {
		name, notServed := strings.CutPrefix(v, "-")
		list = append(list, stack.Version{Name: name, NotServed: notServed})
	}
	crd := stack.Definition(group, "Widget", list...)
	if _, err := w.definitions.Apply(t.Context(), crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
		t.Error(err)
	}
}

// undefine deletes definitions and waits until they no longer exist.
func (w *definer) undefine(t *testing.T, groups ...string) {
	t.Helper()
	ctx := context.Background() // that of the test ends before its cleanup
	for _, group := range groups {
		_ = w.definitions.Delete(ctx, "widgets."+group, metav1.DeleteOptions{})
	}
	for _, group := range groups {
		await.True(t, "no definition of "+group, func() bool {
			return apierrors.IsNotFound(w.definitions.Delete(ctx, "widgets."+group, metav1.DeleteOptions{}))
		})
	}
}

func TestCustomResourcesAreFollowed(t *testing.T) {
	t.Parallel()
	admin := stacktest.Config(t)
	const group, name = "followed.example.com", "widgets.followed.example.com"
	crds := "customresourcedefinitions.apiextensions.k8s.io"
	var written logtest.Recorder
	e := newReal(t, Options{REST: admin, Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: crds}, {Name: "*." + group}}}})
	w := newDefiner(t, admin, group)
	start(t, e)
	waitKindUp(t, e, map[string]float64{crds: 1})

	w.define(t, group, "v1alpha1")
	waitKindUp(t, e, map[string]float64{crds: 1, name: 1})
	version := func() string { return informers.Kinds(e.informers.List())[name].Version }
	if v := version(); v != "v1alpha1" {
		t.Errorf("version %s, want v1alpha1", v)
	}

	w.define(t, group, "v1", "-v1alpha1")
	await.True(t, "version v1", func() bool { return version() == "v1" }, func() string { return version() })
	waitKindUp(t, e, map[string]float64{crds: 1, name: 1})

	w.undefine(t, group)
	waitKindUp(t, e, map[string]float64{crds: 1})
	await.True(t, "no series of widgets", func() bool { return exportertest.SeriesOf(t, e.Gatherer(), name) == 0 }, func() string { return get(e, "/metrics").Body.String() })

	w.define(t, group, "v1")
	waitKindUp(t, e, map[string]float64{crds: 1, name: 1})
	await.True(t, "widgets are synced", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "informer_type")[name] == 1
	}, func() string { return get(e, "/readyz?verbose").Body.String() })
	if n := exportertest.Values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")["error"]; n != 0 {
		t.Errorf("%v discoveries failed", n)
	}
}

// A forbidden resource that only matches a pattern is skipped without series, and watched once it is allowed. A forbidden
// resource that is named is reported.
func TestForbiddenKindsThatWereFound(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	account := newLimited(t, namespace)
	account.Grant(t, "", mayWatch("pods"))
	cluster := config.Config{
		Resources: []config.Resource{{Name: "*"}, {Name: "nodes"}},
		// Every service account may read these from Kubernetes 1.37 on.
		ExcludeResources: []string{"clustertrustbundles.certificates.k8s.io"},
	}
	var written logtest.Recorder
	e := newReal(t, Options{REST: account.Config, Logger: written.Logger(), Config: cluster})
	run(t, e, admin)
	waitKindUp(t, e, map[string]float64{"pods": 1, "nodes": 0})
	waitReady(t, e)
	kinds := func() map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ExporterKinds.Name, "state")
	}
	before := kinds()
	if before["watched"] != 2 || before["forbidden"] < 30 {
		t.Errorf("kinds: %v, want 2 watched and all others forbidden", before)
	}
	if n := exportertest.SeriesOf(t, e.Gatherer(), "configmaps"); n != 0 {
		t.Errorf("%d series of configmaps, which are forbidden", n)
	}
	if lines := written.Find("skipping forbidden resources"); len(lines) != 1 || !strings.Contains(lines[0].Attrs["resources"], "configmaps") {
		t.Errorf("log lines about skipped resources: %v, want one with configmaps", lines)
	}
	if lines := written.Find("cannot watch the resource", "informer_type", "configmaps"); len(lines) != 0 {
		t.Errorf("log lines about configmaps only: %v", lines)
	}

	account.Grant(t, "", mayWatch("configmaps"))
	e.follower.Reconfigure(cluster) // does immediately what otherwise happens every few minutes
	waitKindUp(t, e, map[string]float64{"pods": 1, "nodes": 0, "configmaps": 1})
	if now := kinds(); now["watched"] != 3 || now["forbidden"] >= before["forbidden"] {
		t.Errorf("kinds: %v, before %v", now, before)
	}
	if lines := written.Find("skipping forbidden resources"); len(lines) != 1 {
		t.Errorf("log lines about skipped resources: %v, want only the first one", lines)
	}
}

// An aggregated API server that is down does not affect other groups. Discoveries are then counted as partial.
func TestAggregatedAPIServerIsDown(t *testing.T) {
	admin := stacktest.Config(t)
	services := dynamic.NewForConfigOrDie(admin).Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.down.example.com"},
		"spec": map[string]any{
			"group": "down.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "nowhere"},
		},
	}}
	var written logtest.Recorder
	e := newReal(t, Options{REST: admin, Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: "apiservices.apiregistration.k8s.io"}, {Name: "*.apps"}}}})
	run(t, e, admin)
	waitReady(t, e)
	if _, err := services.Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = services.Delete(context.Background(), service.GetName(), metav1.DeleteOptions{}) })
	discoveries := func() map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")
	}
	await.True(t, "a partial discovery", func() bool { return discoveries()["partial"] > 0 }, func() string { return fmt.Sprint(discoveries()) })
	if lines := written.Find("discovery failed for some groups"); len(lines) != 1 || !strings.Contains(lines[0].Attrs["groups"], "down.example.com") {
		t.Errorf("log lines: %v, want one about down.example.com", lines)
	}
	waitKindUp(t, e, map[string]float64{
		"apiservices.apiregistration.k8s.io": 1, "controllerrevisions.apps": 1, "daemonsets.apps": 1, "deployments.apps": 1, "replicasets.apps": 1, "statefulsets.apps": 1,
	})

	if err := services.Delete(t.Context(), service.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a log line that discovery succeeded again", func() bool { return len(written.Find("discovery succeeded again")) == 1 }, func() string { return fmt.Sprint(written.Find("")) })
}

// Creating and deleting a hundred definitions causes only a few discoveries.
func TestManyCustomResources(t *testing.T) {
	admin := stacktest.Config(t)
	admin.QPS = -1
	var groups []string
	want := map[string]float64{"customresourcedefinitions.apiextensions.k8s.io": 1}
	for i := range 100 {
		group := fmt.Sprintf("g%d.many.example.com", i)
		groups = append(groups, group)
		want["widgets."+group] = 1
	}
	asked := &wire{}
	cluster := rest.CopyConfig(admin)
	cluster.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.next = next
		return asked
	})
	e := newReal(t, Options{REST: cluster, Config: config.Config{Resources: []config.Resource{{Name: "customresourcedefinitions.apiextensions.k8s.io"}, {Name: "*.many.example.com"}}}})
	w := newDefiner(t, admin, groups...)
	run(t, e, admin)
	waitReady(t, e)
	begin := time.Now()
	var workers sync.WaitGroup
	for _, group := range groups {
		workers.Go(func() { w.define(t, group, "v1") })
	}
	workers.Wait()
	waitKindUp(t, e, want)
	took := time.Since(begin)
	w.undefine(t, groups...)
	waitKindUp(t, e, map[string]float64{"customresourcedefinitions.apiextensions.k8s.io": 1})
	await.True(t, "no series of a deleted definition", func() bool { return exportertest.SeriesOf(t, e.Gatherer(), "widgets."+groups[7]) == 0 })

	asked.mu.Lock()
	defer asked.mu.Unlock()
	discoveries := 0
	for _, r := range asked.requests {
		if r.URL.Path == "/apis" {
			discoveries++
		}
	}
	// Discoveries are at least a second apart.
	if most := int(time.Since(begin).Seconds()) + 6; discoveries > most {
		t.Errorf("%d discoveries, want at most %d", discoveries, most)
	}
	t.Logf("up after %v, %d discoveries", took, discoveries)
}

// The cache, audits and freshness checks all ignore objects that the selector does not match.
func TestLabelSelector(t *testing.T) {
	t.Parallel()
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	createConfigMap(t, admin, namespace, "unlabelled")
	client := dynamic.NewForConfigOrDie(admin).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	label := func(name, team string) {
		t.Helper()
		patch := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"team":%q}}}`, name, team)
		yes := true
		if _, err := client.Patch(t.Context(), name, "application/apply-patch+yaml", []byte(patch), metav1.PatchOptions{FieldManager: "test", Force: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	label("ours", "shop")
	label("theirs", "pay")
	second := every(time.Second)
	e := newReal(t, Options{REST: admin, Config: config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, Namespaces: []string{namespace}, LabelSelector: "team in (shop)",
		Checks: config.Checks{Freshness: second, Audit: second},
	}})
	start(t, e)
	objects := func() float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerObjects.Name, "watch_namespace")[namespace]
	}
	wait := func(want float64) {
		t.Helper()
		await.True(t, fmt.Sprintf("%v objects", want), func() bool { return objects() == want }, func() string { return fmt.Sprint(objects()) })
	}
	wait(1)
	label("theirs", "shop")
	wait(2)
	label("ours", "pay")
	wait(1)
	for metric, good := range map[string]string{
		catalog.InformerFreshnessChecks.Name: "fresh", catalog.InformerAudits.Name: "consistent",
	} {
		before := exportertest.Values(t, e.Gatherer(), metric, "result")[good]
		await.True(t, "two more of "+metric, func() bool {
			label("unlabelled", fmt.Sprint("t", time.Now().UnixNano())) // a change that the selector excludes
			return exportertest.Values(t, e.Gatherer(), metric, "result")[good] >= before+2
		}, func() string { return fmt.Sprint(exportertest.Values(t, e.Gatherer(), metric, "result")) })
		for _, bad := range []string{"lagging", "different"} {
			if n := exportertest.Values(t, e.Gatherer(), metric, "result")[bad]; n != 0 {
				t.Errorf("%s{result=%q} is %v", metric, bad, n)
			}
		}
	}
}
