package exporter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// configMap is a directory with a file as the kubelet mounts a ConfigMap: a symbolic link into a directory that is replaced.
type configMap struct {
	dir      string
	versions int
}

func (c *configMap) path() string { return filepath.Join(c.dir, "config.yaml") }

func (c *configMap) write(t *testing.T, content string) {
	t.Helper()
	c.versions++
	folder := fmt.Sprintf("..v%d", c.versions)
	if err := os.Mkdir(filepath.Join(c.dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, folder, "config.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, filepath.Join(c.dir, "..next")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(c.dir, "..next"), filepath.Join(c.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if c.versions == 1 {
		if err := os.Symlink("..data/config.yaml", c.path()); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, path string) *config.File {
	t.Helper()
	file, err := config.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// reloaded returns the two metrics of configuration reloads.
func reloaded(t *testing.T, e *Exporter) (good, at float64) {
	t.Helper()
	families, err := e.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		switch f.GetName() {
		case catalog.ExporterConfigReloaded.Name:
			good = f.GetMetric()[0].GetGauge().GetValue()
		case catalog.ExporterConfigReloadedTime.Name:
			at = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return good, at
}

func waitGood(t *testing.T, e *Exporter, want float64) (at float64) {
	t.Helper()
	var good float64
	await.True(t, fmt.Sprintf("reload successful %v", want), func() bool { good, at = reloaded(t, e); return good == want }, func() string { return fmt.Sprint(good) })
	return at
}

// A file that changes like a ConfigMap adds and removes resources on a real server. Removed ones leave no series (O5).
func TestConfigurationIsReloaded(t *testing.T) {
	t.Parallel()
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	file := &configMap{dir: t.TempDir()}
	file.write(t, "resources: [pods]")
	var written logtest.Recorder
	e := newReal(t, Options{REST: admin, Logger: written.Logger(), File: open(t, file.path())})
	e.reloader.Interval = 10 * time.Millisecond
	start(t, e)
	waitKindUp(t, e, map[string]float64{"pods": 1})
	first := waitGood(t, e, 1)

	file.write(t, "resources: [pods, configmaps, gadgets.example.com]\nnamespaces: ["+namespace+"]")
	waitKindUp(t, e, map[string]float64{"pods": 1, "configmaps": 1, "gadgets.example.com": 0})
	waitReady(t, e)
	if second := waitGood(t, e, 1); second <= first {
		t.Errorf("the time of the last success was %v and is %v", first, second)
	}
	if got := exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "watch_namespace"); len(got) != 1 {
		t.Errorf("synced by namespace: %v, want only that of the configuration", got)
	}

	file.write(t, "resources: [pods]\nresuorces: [nodes]")
	at := waitGood(t, e, 0)
	if lines := written.Find("invalid configuration file"); len(lines) != 1 || !strings.Contains(lines[0].Attrs["err"], "line 2") || !strings.Contains(lines[0].Attrs["err"], "unknown field") {
		t.Errorf("log lines %v, want one with the line and the unknown field", lines)
	}
	waitKindUp(t, e, map[string]float64{"pods": 1, "configmaps": 1, "gadgets.example.com": 0})
	if err := os.Remove(filepath.Join(file.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a log line about the missing file", func() bool { return len(written.Find("invalid configuration file")) == 2 }, func() string { return fmt.Sprint(written.Find("")) })
	if again := waitGood(t, e, 0); again != at {
		t.Errorf("the time of the last success was %v and is %v", at, again)
	}

	file.write(t, "resources: [nodes]\ndetail: essential\nhistograms: both")
	waitKindUp(t, e, map[string]float64{"nodes": 1})
	waitGood(t, e, 1)
	for _, of := range []string{"detail", "histograms"} {
		if lines := written.Find("a change of " + of + " takes effect at the next start"); len(lines) != 1 {
			t.Errorf("log lines %v, want one about the %s", lines, of)
		}
	}
	for _, gone := range []string{"pods", "configmaps", "gadgets.example.com"} {
		await.True(t, "no series of "+gone, func() bool { return exportertest.SeriesOf(t, e.Gatherer(), gone) == 0 })
	}
}

func TestReloadLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const nothing = `excludeResources: ["*"]`
	write(nothing)
	e := newFake(t, Options{File: open(t, path)})
	e.reloader.Interval = time.Hour
	run(t, e)
	await.True(t, "the first discovery", e.status.IsDiscovered)
	before := goleak.IgnoreCurrent()
	reload := func(text string, want ...string) {
		t.Helper()
		write(text)
		if err := e.Reload(); err != nil {
			t.Fatal(err)
		}
		have := func() (list []string) {
			for _, t := range e.informers.List() {
				list = append(list, strings.TrimSpace(t.Name()+" "+t.Selector))
			}
			return list
		}
		await.True(t, text, func() bool { return slices.Equal(have(), want) }, func() string { return fmt.Sprint(have()) })
	}
	for range 3 {
		reload("resources: [pods, nodes]\nnamespaces: [a, b]", "a/pods", "b/pods", "nodes")
		settle(t, e)
		reload("resources: [pods]\nlabelSelector: a", "pods a")
		reload("resources: [pods]\nlabelSelector: b\nchecks: {audit: 1h}", "pods b")
	}
	if s := e.informers.List()[0].Spec; s.Checks != (collectors.Checks{Freshness: 30 * time.Second, Audit: time.Hour}) {
		t.Errorf("the checks did not change: %+v", s)
	}
	reload(nothing)
	await.True(t, "no series of pods", func() bool { return exportertest.SeriesOf(t, e.Gatherer(), "pods") == 0 })
	leaktest.None(t, before)
}

// Without a file, Reload does nothing.
func TestReloadWithoutAFile(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	if err := e.Reload(); err != nil {
		t.Error(err)
	}
	if good, at := reloaded(t, e); good != 1 || at == 0 {
		t.Errorf("successful %v, at %v", good, at)
	}
}
