package exporter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/election"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// The log has one line with the result of the start, and progress is counted until everything is synced or refused.
func TestStartIsAnnounced(t *testing.T) {
	never := configfile.Duration(0)
	var written logtest.Recorder
	e := newFake(t, Options{Logger: written.Logger(), Config: config.Config{Checks: config.Checks{Audit: &never, Freshness: &never}}})
	if complete, all := e.Progress(); complete != 0 || all != 3 {
		t.Errorf("before the start: %d of %d, want 0 of 3", complete, all)
	}
	run(t, e)
	if err := e.status.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if complete, all := e.Progress(); complete != 3 || all != 3 {
		t.Errorf("settled: %d of %d, want 3 of 3", complete, all)
	}
	await.True(t, "the result of the start", func() bool { return len(written.Find("informers synced", "synced", "2", "refused", "1")) == 1 },
		func() string { return strings.Join(namesOf(e.informers.List()), ",") })
}

// A changed file is used while the exporter runs. A change that takes effect only at the next start is logged as a warning.
func TestChangedFileIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) { // atomically: an empty file is a valid configuration
		t.Helper()
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	write("resources: [pods]\ndetail: full")
	file, err := config.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var written logtest.Recorder
	e := newFake(t, Options{Logger: written.Logger(), File: file})
	e.reloader.Interval = 10 * time.Millisecond
	if got := namesOf(e.informers.List()); !slices.Equal(got, []string{"pods"}) {
		t.Errorf("%v are watched, want those of the file", got)
	}
	run(t, e)
	write("resources: [pods, nodes]")
	watched := func(want ...string) {
		t.Helper()
		await.True(t, strings.Join(want, ",")+" are watched", func() bool { return slices.Equal(namesOf(e.informers.List()), want) },
			func() string { return strings.Join(namesOf(e.informers.List()), ",") })
	}
	watched("pods", "nodes")
	if lines := written.Find("takes effect at the next start"); len(lines) != 0 {
		t.Errorf("unexpected warnings: %v", lines)
	}
	write("resources: [nodes]\ndetail: essential\nhistograms: native\nobjects: {firstNamespaces: [shop]}")
	watched("nodes")
	for _, line := range [][]string{
		{"a change of detail takes effect at the next start", "configured", "essential", "reported", "full"},
		{"a change of histograms takes effect at the next start", "configured", "native", "reported", ""},
		{"a change of objects.firstNamespaces takes effect at the next start"},
	} {
		if lines := written.Find(line[0], line[1:]...); len(lines) != 1 {
			t.Errorf("%d lines %q, want 1: %v", len(lines), line, written.Find(""))
		}
	}
	if good, at := reloaded(t, e); good != 1 || time.Since(time.UnixMilli(int64(at*1000))).Abs() > time.Hour {
		t.Errorf("successful %v, at %v", good, at)
	}
	write("nope: 1")
	if err := e.Reload(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
	if good, _ := reloaded(t, e); good != 0 {
		t.Errorf("successful %v after a failure", good)
	}
}

// Stop returns when its context ends, even if a request does not.
func TestStopDoesNotWaitForEver(t *testing.T) {
	cluster, asked, release := exportertest.MetadataClient(t), make(chan struct{}, 100), make(chan struct{})
	cluster.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked <- struct{}{}
		<-release
		return false, nil, nil
	})
	e := newFakeOf(t, Options{}, cluster, nil)
	if err := e.Stop(t.Context()); err != nil {
		t.Errorf("before the start: %v", err)
	}
	run(t, e)
	<-asked
	late := errors.New("no time left")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(late)
	if err := e.Stop(ctx); !errors.Is(err, late) || !strings.HasPrefix(err.Error(), "informers still running: ") {
		t.Errorf("error %v, want one that informers are still running", err)
	}
	close(release)
}

// An exporter takes part in the election from Start to Stop, which waits for a discovery in progress.
func TestStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Bool
		release, leases := make(chan struct{}), kubernetesfake.NewClientset()
		e, err := newExporter(Options{
			Config:   config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "*.example.com"}}},
			Election: &election.Election{Namespace: "shop", Name: "exporter", Identity: "a"},
		}, func(client.WrapConfig) (*client.Connection, error) {
			return &client.Connection{
				Metadata: exportertest.MetadataClient(t),
				Discover: func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
					asked.Store(true)
					<-release
					return nil, nil, nil
				},
				ListVersion: noVersion,
				Leases:      func(time.Duration) (coordinationclient.LeasesGetter, error) { return leases.CoordinationV1(), nil },
			}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		e.Start(t.Context())
		synctest.Wait()
		if !asked.Load() || !*e.candidate.Leading() {
			t.Errorf("started: discovery %t, leading %t", asked.Load(), *e.candidate.Leading())
		}
		stopped := make(chan error, 1)
		go func() { stopped <- e.Stop(context.Background()) }()
		synctest.Wait()
		if len(stopped) != 0 {
			t.Error("stopped during a discovery")
		}
		close(release)
		if err := <-stopped; err != nil || *e.candidate.Leading() {
			t.Errorf("stopped: leading %t, error %v", *e.candidate.Leading(), err)
		}
	})
}
