package informer_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A value beyond the limit of a label is counted each time, and logged once for each label.
func TestOverflow(t *testing.T) {
	log := &logLines{}
	obs, reg := observertest.New(t, func(o *collectors.Options) {
		o.Limits = collectors.Limits{InformerTypes: 1, WatchNamespaces: 2, Handlers: 1, Indexes: 1}
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	newInformer := func(resource, namespace string) cache.SharedIndexInformer {
		inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, informer.ID{Resource: resource, Namespace: namespace}, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{"first": cache.MetaNamespaceIndexFunc, "another": cache.MetaNamespaceIndexFunc},
		}))
		for _, name := range []string{"first", namespace} {
			if _, err := inf.AddEventHandler(informer.NamedHandler(name, cache.ResourceEventHandlerFuncs{})); err != nil {
				t.Fatal(err)
			}
		}
		return inf
	}
	const overflow = "k8s_informer_label_overflow_total"
	if n, err := testutil.GatherAndCount(reg, overflow); err != nil || n != 8 {
		t.Errorf("%d labels are reported from the beginning, want 8: %v", n, err)
	}
	first := newInformer("pods", "first")
	if s := metricstest.Take(t, reg); strings.Contains(s.String(), overflow) {
		t.Errorf("an overflow although there is room:\n%s", s)
	}
	for _, namespace := range []string{"second", "third", "fourth"} {
		inf := newInformer("widgets", namespace)
		for range 5 {
			_, _ = inf.GetIndexer().ByIndex("first", "x")
			_, _ = inf.GetIndexer().ByIndex("another", "x")
		}
	}
	got := metricstest.Take(t, reg)
	for label, want := range map[string]float64{
		"informer_type":   3, // the widgets
		"watch_namespace": 2, // third, fourth
		"handler":         3, // all but first
		"index":           2, // another; by second, and by third and fourth together, which share their series
	} {
		if v := got[overflow+"{label="+label+"}"]; v != want {
			t.Errorf("%s: %v overflows, want %v", label, v, want)
		}
	}
	expected := "# TYPE k8s_informer_objects gauge\n# HELP k8s_informer_objects " + catalog.InformerObjects.Help + "\n"
	for _, labels := range []string{
		`informer_type="pods",name="test",watch_namespace="first"`,
		`informer_type="other",name="test",watch_namespace="second"`,
		`informer_type="other",name="test",watch_namespace="other"`, // third and fourth are not duplicates of each other
	} {
		expected += "k8s_informer_objects{" + labels + "} 0\n"
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(expected), "k8s_informer_objects"); err != nil {
		t.Error(err)
	}
	log.eventually(t, 4)
	for label, limit := range map[string]string{
		"informer_type":   "limit=1 option=Options.Limits.InformerTypes",
		"watch_namespace": "limit=2 option=Options.Limits.WatchNamespaces",
		"handler":         "limit=1 option=Options.Limits.Handlers",
		"index":           "limit=1 option=Options.Limits.Indexes",
	} {
		if line := fmt.Sprintf("label=%s %s\n", label, limit); !strings.Contains(log.String(), line) {
			t.Errorf("the log lacks %q:\n%s", line, log)
		}
	}

	informer.End(first)
	informer.NewListerWatcher(obs, informer.ID{Resource: "nodes", Namespace: "second"}, fakeapi.NewServer())
	if found := metricstest.Gather(t, reg).Select(catalog.InformerObjects.Name, "informer_type", "nodes", "watch_namespace", "second"); len(found) != 1 {
		t.Errorf("there is room again, but the labels of the informer are missing: %v", found)
	}
	log.eventually(t, 4)
}

// logLines is a log that is safe for concurrent use.
type logLines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// eventually waits for a number of lines, and fails if there are more.
func (l *logLines) eventually(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); strings.Count(l.String(), "\n") < n && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := strings.Count(l.String(), "\n"); got != n {
		t.Errorf("%d lines, want %d:\n%s", got, n, l)
	}
}
