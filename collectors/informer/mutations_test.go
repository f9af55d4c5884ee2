package informer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// guarded is a ConfigMap with a lock. Both the consumer that modifies it and the check that encodes it take the lock, so that
// the test has no data race.
type guarded struct {
	*corev1.ConfigMap
	mu    sync.Mutex
	Color string
}

func (g *guarded) MarshalJSON() ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []byte(`"` + g.Color + `"`), nil
}

func (g *guarded) DeepCopyObject() runtime.Object {
	return &guarded{ConfigMap: g.DeepCopy(), Color: g.Color}
}

func (g *guarded) paint(color string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Color = color
}

// guard is a Transform that wraps each ConfigMap in a guarded.
func guard(obj any) (any, error) {
	if m, ok := obj.(*corev1.ConfigMap); ok {
		return &guarded{ConfigMap: m, Color: "red"}, nil
	}
	return obj, nil
}

// A consumer modifies an object of a real cache in place (P7). Updates by the API server are not mutations.
func TestMutatedObject(t *testing.T) {
	t.Parallel()
	config := stacktest.Config(t)
	c := newChecked(t, configs{config, config, config}, collectors.Checks{Mutations: 20 * time.Millisecond}, nil)
	if err := c.informer.SetTransform(guard); err != nil {
		t.Fatal(err)
	}
	c.create("a")
	c.run()
	c.create("b")
	before := c.waitFor("both", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_objects"] >= 2 && s["k8s_informer_propagation_seconds_count"] == 1
	})
	time.Sleep(time.Second) // many rounds
	metricstest.Take(t, c.registry).Since(before, volatile...).Equal(t, metricstest.Snapshot{})

	object, _, _ := c.informer.GetStore().GetByKey(c.namespace + "/a")
	before = metricstest.Take(t, c.registry)
	object.(*guarded).paint("blue")
	after := c.waitFor("found", func(s metricstest.Snapshot) bool { return s["k8s_informer_mutations_total"] > 0 && s[syncLag] == 0 })
	after.Since(before, volatile...).Equal(t, metricstest.Snapshot{"k8s_informer_mutations_total": 1})
	time.Sleep(200 * time.Millisecond)
	if again := metricstest.Take(t, c.registry)["k8s_informer_mutations_total"]; again != 1 {
		t.Errorf("one change is counted %v times", again)
	}
}

// An object that was modified in place is counted once. An object that the API server updated is not counted.
func TestMutationsAreCountedOnce(t *testing.T) {
	const mutations = "k8s_informer_mutations_total"
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t, func(o *collectors.Options) { o.Checks = collectors.Checks{Mutations: time.Minute} })
		server := fakeapi.NewServer()
		configMap := func(version string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: version}}
		}
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.ConfigMap{*configMap("7")}}, nil
		}
		inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "configmaps"}, server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		if err := inf.SetTransform(guard); err != nil {
			t.Fatal(err)
		}
		stop := start(t, inf)
		defer stop()
		stream := <-server.Streams
		expect := func(want float64) {
			t.Helper()
			time.Sleep(5 * time.Minute) // several checks
			synctest.Wait()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{mutations: want})
		}
		expect(0)
		stream.Send(watch.Modified, configMap("11"))
		expect(0)
		object, _, _ := inf.GetStore().GetByKey("a")
		object.(*guarded).paint("blue")
		expect(1)
		expect(1)
	})
}
