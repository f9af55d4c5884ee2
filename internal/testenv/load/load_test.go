package load_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func TestLoad(t *testing.T) {
	client, err := kubernetes.NewForConfig(stacktest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	const bound = 40
	namespaces := []string{stacktest.Namespace(t), stacktest.Namespace(t)}
	begin := time.Now()
	l, err := load.Start(t.Context(), load.Options{
		Client: dynamic.NewForConfigOrDie(stacktest.Config(t)), Factory: informers.NewSharedInformerFactory(client, 0),
		Namespaces: namespaces, Objects: bound, WritesPerSecond: 100, ReadsPerSecond: 1000, RequestTimeout: await.Timeout,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	enough := func(s load.Stats) bool {
		return s.Created > bound && s.Updated > 20 && s.Deleted > 10 && s.Hits > 100 && s.Misses > 100 && s.Events > 70
	}
	defer l.Stop()
	await.True(t, "all statistics rise", func() bool { return enough(l.Stats()) }, func() string { return fmt.Sprintf("%+v", l.Stats()) })
	l.Stop()
	s, took := l.Stats(), time.Since(begin)
	if s.Failed > 0 {
		t.Errorf("writes failed in a healthy cluster: %+v", s)
	}
	if writes := float64(s.Created + s.Updated + s.Deleted); writes > 100*took.Seconds()+10 {
		t.Errorf("%v writes in %v, more than 100 a second", writes, took)
	}
	var objects int64
	for _, ns := range namespaces {
		p, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := client.AppsV1().Deployments(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Items) == 0 || len(c.Items) == 0 {
			t.Errorf("%s has %d pods and %d configmaps", ns, len(p.Items), len(c.Items))
		}
		objects += int64(len(p.Items) + len(c.Items) + len(d.Items))
	}
	if want := s.Created - s.Deleted; objects > bound || objects != want {
		t.Errorf("%d objects, want %d, and at most %d", objects, want, bound)
	}
	time.Sleep(50 * time.Millisecond)
	if after := l.Stats(); after != s {
		t.Errorf("it continues after Stop: %+v, %+v", s, after)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	if _, err := load.Start(t.Context(), load.Options{}); err == nil || !strings.Contains(err.Error(), "Options.Client") {
		t.Errorf("without a client: %v", err)
	}
}
