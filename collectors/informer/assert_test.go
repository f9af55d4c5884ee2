//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// S30: AssertSynced names the problem: an informer that does not exist, has not started, differs from the API server, or misses
// changes on a half-open connection. It counts nothing.
func TestAssertSynced(t *testing.T) {
	t.Parallel()
	own := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, own)
	c := newChecked(t, configs{stacktest.Config(t), own, stacktest.Config(t)}, collectors.Checks{}, nil)
	id := informer.ID{Resource: "configmaps", Namespace: c.namespace}
	fails := func(options informer.AssertOptions, with string) {
		t.Helper()
		if err := informer.AssertSynced(t.Context(), c.obs, options); err == nil || !strings.Contains(err.Error(), with) {
			t.Errorf("with %+v: %v, want %q", options, err, with)
		}
	}
	fails(informer.AssertOptions{}, "informer configmaps, namespace "+c.namespace+": not started")
	fails(informer.AssertOptions{IDs: []informer.ID{{Resource: "pods"}}}, "informer pods, namespace *: does not exist")
	c.run()
	c.create("a")
	before := c.waitFor("the object and the watch", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_objects"] == 1 && s["k8s_informer_propagation_seconds_count"] == 1 && s["k8s_informer_watch_connected"] == 1
	})
	await.True(t, "equal", func() bool {
		return informer.AssertSynced(t.Context(), c.obs, informer.AssertOptions{IDs: []informer.ID{id}, Equal: true}) == nil
	})
	metricstest.Take(t, c.registry).Since(before, volatile...).Equal(t, metricstest.Snapshot{})

	object, exists, err := c.informer.GetIndexer().GetByKey(c.namespace + "/a")
	if err != nil || !exists {
		t.Fatal(err, exists)
	}
	changed := object.(*corev1.ConfigMap).DeepCopy()
	changed.UID = "another"
	if err := c.informer.GetIndexer().Update(changed); err != nil {
		t.Fatal(err)
	}
	fails(informer.AssertOptions{NoRequests: true, Equal: true}, "wrong_uid:1")
	if err := informer.AssertSynced(t.Context(), c.obs, informer.AssertOptions{NoRequests: true}); err != nil {
		t.Errorf("without a comparison: %v", err)
	}

	proxy.HalfOpen()
	c.create("unseen")
	await.True(t, "changes are missing", func() bool {
		err := informer.AssertSynced(t.Context(), c.obs, informer.AssertOptions{})
		return err != nil && strings.Contains(err.Error(), "lacks changes")
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := informer.AssertSynced(ctx, c.obs, informer.AssertOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	c.stop()
	fails(informer.AssertOptions{}, "no informers")
}

// For an informer without an observed store, AssertSynced can only use the known state.
func TestAssertSyncedWithoutAConnection(t *testing.T) {
	obs, _ := observertest.New(t)
	lw := informer.NewListerWatcher(obs, pods, podListWatch(fake.NewClientset()))
	defer lw.Close()
	if err := informer.AssertSynced(t.Context(), obs, informer.AssertOptions{}); err == nil {
		t.Error("no error")
	}
	unknown := informer.AssertOptions{IDs: []informer.ID{{Resource: "nodes", Namespace: "shop"}}}
	if err := informer.AssertSynced(t.Context(), obs, unknown); err == nil || err.Error() != "informer nodes, namespace shop: does not exist" {
		t.Errorf("an informer that does not exist: %v", err)
	}
}

// AssertSynced reads the store itself, and sends only the requests that its options ask for. It lists again if the first list has
// differences, which count only if the second has them too.
func TestRequestsOfAssertSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		server := fakeapi.NewServer()
		var requests []string
		different := 0 // lists
		server.OnList = func(options metav1.ListOptions) (runtime.Object, error) {
			if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
				requests = append(requests, "list")
				if different--; different >= 0 {
					return fakeapi.PodList(1, fakeapi.Pod("a", 1)), nil
				}
			}
			return fakeapi.PodList(1), nil
		}
		server.OnWatch = func(options metav1.ListOptions) (watch.Interface, error) {
			if *options.TimeoutSeconds != 1 {
				return nil, nil
			}
			requests = append(requests, "watch")
			w := watch.NewRaceFreeFake()
			time.AfterFunc(time.Second, w.Stop)
			return w, nil
		}
		stop := start(t, informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
		defer stop()
		<-server.Streams
		synctest.Wait()
		for _, c := range []struct {
			options   informer.AssertOptions
			different int
			want      []string
			err       string
		}{
			{options: informer.AssertOptions{NoRequests: true}},
			{options: informer.AssertOptions{}, want: []string{"watch"}},
			{options: informer.AssertOptions{NoRequests: true, Equal: true}, want: []string{"list"}},
			{options: informer.AssertOptions{Equal: true}, want: []string{"watch", "list"}},
			{options: informer.AssertOptions{Equal: true}, different: 1, want: []string{"watch", "list", "list"}},
			{options: informer.AssertOptions{Equal: true}, different: 2, want: []string{"watch", "list", "list"}, err: "map[missing:1]"},
		} {
			requests, different = nil, c.different
			err := informer.AssertSynced(t.Context(), obs, c.options)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || !slices.Equal(requests, c.want) {
				t.Errorf("with %+v and %d lists with differences: requests %q, want %q; %v", c.options, c.different, requests, c.want, err)
			}
		}
	})
}

// A readiness probe uses the known state, without requests.
func ExampleAssertSynced() {
	obs, _ := observertest.Example()
	factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(shopPod), 0, informer.FactoryOptions{})
	defer factory.Shutdown()
	factory.Core().V1().Pods().Informer()

	ready := func(ctx context.Context) error {
		return informer.AssertSynced(ctx, obs, informer.AssertOptions{NoRequests: true})
	}
	fmt.Println(ready(context.Background()))
	// Output: informer pods, namespace *: not started
}
