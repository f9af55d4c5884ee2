package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// checked is an informer on the ConfigMaps of a namespace of a real API server, with checks.
type checked struct {
	*rig
	obs      *collectors.Observer
	informer cache.SharedIndexInformer
	stop     func()
}

// configs are the client configurations of the test, the informer and its checks.
type configs struct{ admin, own, other *rest.Config }

// newChecked returns an informer with checks.
func newChecked(t *testing.T, configs configs, checks collectors.Checks, indexers cache.Indexers) *checked {
	t.Helper()
	c := &checked{rig: &rig{
		T: t, client: kubernetes.NewForConfigOrDie(configs.admin), registry: prometheus.NewPedanticRegistry(),
	}}
	ns, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "checked-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.namespace = ns.Name
	c.obs, err = collectors.New(c.registry, collectors.Options{Name: "test", Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	owned, others := kubernetes.NewForConfigOrDie(configs.own), kubernetes.NewForConfigOrDie(configs.other)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (kruntime.Object, error) {
			return owned.CoreV1().ConfigMaps(c.namespace).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.TimeoutSeconds != nil && *options.TimeoutSeconds == 1 {
				return others.CoreV1().ConfigMaps(c.namespace).Watch(ctx, options)
			}
			return owned.CoreV1().ConfigMaps(c.namespace).Watch(ctx, options)
		},
	}
	id := informer.ID{Resource: "configmaps", Namespace: c.namespace}
	c.informer = informer.NewSharedIndexInformer(c.obs, id, lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: indexers})
	return c
}

func (c *checked) run() {
	c.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.informer.RunWithContext(ctx) }()
	c.stop = func() { cancel(); <-done }
	c.Cleanup(c.stop)
	c.waitFor("synced", syncCounted)
}

const (
	freshCount   = "k8s_informer_freshness_checks_total{result=fresh}"
	laggingCount = "k8s_informer_freshness_checks_total{result=lagging}"
	failedCount  = "k8s_informer_freshness_checks_total{result=error}"
	skippedCount = "k8s_informer_freshness_checks_total{result=skipped}"
	syncLag      = "k8s_informer_sync_lag_seconds"
)

// Checks of a healthy informer find it fresh, idle or not, send one request each, and change no other metric. They
// end with the informer.
func TestFreshInformer(t *testing.T) {
	config := rest.CopyConfig(stacktest.Config(t))
	var ownRequests, shortWatches atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.RawQuery, "timeoutSeconds=1&") {
				shortWatches.Add(1)
			} else {
				ownRequests.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	c := newChecked(t, configs{stacktest.Config(t), config, config}, collectors.Checks{Freshness: 100 * time.Millisecond}, nil)
	c.run()
	before := c.waitFor("a first check", func(s metricstest.Snapshot) bool { return s[freshCount] > 0 && s[syncLag] == 0 })
	ownBefore := ownRequests.Load()
	idle := c.waitFor("idle checks", func(s metricstest.Snapshot) bool {
		if s[syncLag] != 0 {
			t.Errorf("idle, and the lag is %v", s[syncLag])
		}
		return s[freshCount] >= before[freshCount]+2
	})
	idle.Since(before, append(volatile, "k8s_informer_propagation", freshCount)...).Equal(t, metricstest.Snapshot{})
	for _, name := range []string{"a", "b", "c"} {
		c.create(name)
	}
	created := metricstest.Take(t, c.registry)
	after := c.waitFor("a check that began after the changes", func(s metricstest.Snapshot) bool { return s[freshCount] >= created[freshCount]+2 && s[syncLag] == 0 })
	after.Since(idle, append(volatile, "k8s_informer_propagation", freshCount)...).Equal(t, metricstest.Snapshot{
		"k8s_informer_watch_events_total{type=added}": 3, "k8s_informer_objects": 3,
	})
	counted := metricstest.Take(t, c.registry)[freshCount]
	c.stop()
	if n := ownRequests.Load() - ownBefore; n != 0 {
		t.Errorf("%d more requests than those of the checks", n)
	}
	if checks := float64(shortWatches.Load()); checks < counted || checks > counted+2 {
		t.Errorf("%v requests for %v checks", checks, counted)
	}
	noChecksRun(t)
}

// Ten informers of an Observer take turns: there is one check per interval, and one more per interval while informers are silent, of
// which up to three may have accumulated.
func TestInformersTakeTurns(t *testing.T) {
	t.Parallel()
	const interval = time.Second
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Checks.Freshness = interval })
	config := rest.CopyConfig(stacktest.Config(t))
	var requests atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.RawQuery, "timeoutSeconds=1&") {
				requests.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	client, namespace := kubernetes.NewForConfigOrDie(config), stacktest.Namespace(t)
	begin := time.Now()
	for n := range 10 {
		lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
		id := informer.ID{Resource: fmt.Sprint("configmaps-", n)}
		start(t, informer.NewSharedIndexInformer(obs, id, lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}))
	}
	await.True(t, "a check of each informer", func() bool {
		for _, fresh := range metricstest.Gather(t, reg).Select(catalog.InformerFreshnessChecks.Name, "result", checks.FreshnessFresh) {
			if fresh.Value == 0 {
				return false
			}
		}
		return requests.Load() >= 10
	})
	n, most := float64(requests.Load()), 2*time.Since(begin).Seconds()/interval.Seconds()+4
	for _, c := range metricstest.Gather(t, reg).Select(catalog.InformerFreshnessChecks.Name) {
		if c.Labels["result"] != checks.FreshnessFresh {
			most += 20 * c.Value // all ten are checked during two intervals after a problem
		}
	}
	if n > most {
		t.Errorf("%v checks, want at most %.0f", n, most)
	}
}

// No goroutine and no series of any check remains.
func TestChecksEndWithTheInformer(t *testing.T) {
	config := stacktest.Config(t)
	often := 10 * time.Millisecond
	c := newChecked(t, configs{config, config, config}, collectors.Checks{Freshness: often, Audit: often, Mutations: often}, nil)
	c.run()
	c.waitFor("checks", func(s metricstest.Snapshot) bool { return s[freshCount] > 0 && s[consistentCount] > 0 })
	c.stop()
	noChecksRun(t)
	if left := metricstest.Take(t, c.registry); len(left) > 0 {
		t.Errorf("series remain:\n%s", left)
	}
}

// An audit that hangs in a client that ignores contexts does not keep the informer from ending.
func TestClientThatIgnoresContexts(t *testing.T) {
	obs, err := collectors.New(prometheus.NewRegistry(), collectors.Options{Name: "test", Checks: collectors.Checks{Audit: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	hangs, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	lw := &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (kruntime.Object, error) {
			if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
				once.Do(func() { close(hangs) })
				<-release
				panic("an audit must survive a client that panics")
			}
			return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				return nil, apierrors.NewBadRequest("no streaming lists")
			}
			return watch.NewFake(), nil
		},
	}
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "configmaps"}, lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); inf.RunWithContext(ctx) }()
	<-hangs
	cancel()
	select {
	case <-ended:
	case <-time.After(await.Timeout):
		t.Error("the informer does not end")
	}
	close(release)
	noChecksRun(t)
}

// ownFunction matches a function of the decorators in a stack, and none of their tests.
var ownFunction = regexp.MustCompile(`/collectors/(informer|internal/\w+)\.`)

// noChecksRun fails the test if goroutines of checks remain. Goroutines of connections to the server are allowed.
func noChecksRun(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	await.NoError(t, "no goroutine of a check is left", func() error {
		if stack := string(stacks[:runtime.Stack(stacks, true)]); ownFunction.MatchString(stack) {
			return errors.New(stack)
		}
		return nil
	})
}

// Nothing arrives on the informer's watch, which looks like an idle one (S5). The lag stays 0 while nothing changes, rises
// with the first change, and ends when it has arrived.
func TestStalledWatch(t *testing.T) {
	t.Parallel()
	own := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, own)
	c := newChecked(t, configs{stacktest.Config(t), own, stacktest.Config(t)}, collectors.Checks{Freshness: 100 * time.Millisecond}, nil)
	c.run()
	c.create("before")
	c.waitFor("before", func(s metricstest.Snapshot) bool { return s["k8s_informer_objects"] >= 1 })

	proxy.HalfOpen()
	start := metricstest.Take(t, c.registry)
	idle := c.waitFor("nothing happens", func(s metricstest.Snapshot) bool {
		if s[syncLag] != 0 {
			t.Fatalf("nothing happens, and the lag is %v", s[syncLag])
		}
		return s[freshCount] >= start[freshCount]+2
	})
	c.create("unseen")
	lagging := c.waitFor("the lag is seen", func(s metricstest.Snapshot) bool { return s[laggingCount] >= 2 && s[syncLag] > 4 })
	lagging.Since(idle, syncLag, "k8s_informer_freshness_checks_total", "k8s_informer_last_event", "k8s_informer_watch_events_total{type=bookmark}", "k8s_informer_resource_version{").Equal(t, metricstest.Snapshot{})
	if lagging["k8s_informer_watch_connected"] != 1 {
		t.Error("the stalled watch is reported as disconnected")
	}
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	c.waitFor("fresh again", func(s metricstest.Snapshot) bool {
		return s[syncLag] == 0 && s["k8s_informer_objects"] == idle["k8s_informer_objects"]+1
	})
	again := metricstest.Take(t, c.registry)
	c.waitFor("checks are fresh", func(s metricstest.Snapshot) bool { return s[freshCount] > again[freshCount] && s[syncLag] == 0 })
}

// The connection that the watch and the checks share is half-open (S5). Three intervals without a response are reported as
// lag.
func TestHalfOpenConnection(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, config)
	const interval = time.Second
	c := newChecked(t, configs{stacktest.Config(t), config, config}, collectors.Checks{Freshness: interval}, nil)
	c.run()
	c.waitFor("fresh", func(s metricstest.Snapshot) bool { return s[freshCount] > 0 })
	working := time.Now()
	checks := metricstest.Take(t, c.registry)[freshCount]
	c.waitFor("a check that began after this", func(s metricstest.Snapshot) bool { return s[freshCount] >= checks+2 })
	proxy.HalfOpen()
	s := c.waitFor("the lag rises", func(s metricstest.Snapshot) bool { return s[syncLag] > 8 })
	if s[failedCount] == 0 || s[laggingCount] != 0 || s["k8s_informer_watch_connected"] != 1 {
		t.Errorf("with a lag:\n%s", s)
	}
	if longest := time.Since(working); s[syncLag] > longest.Seconds() {
		t.Errorf("the lag is %v, and the cache was known to be fresh %v ago", s[syncLag], longest)
	}
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	c.waitFor("fresh again", func(s metricstest.Snapshot) bool { return s[syncLag] == 0 })
}
