package exporter

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// An exporter without an API server since its start stops cleanly. One log line, not one per resource, says that schemas are
// unknown.
func TestClosedPort(t *testing.T) {
	t.Parallel()
	closed := "http://" + port.Address(port.Free())
	var written logtest.Recorder
	e, err := New(Options{REST: &rest.Config{Host: closed}, Logger: written.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	start(t, e) // and stop, without an error
	await.True(t, "each request is refused", func() bool {
		for _, s := range e.status.Informers() {
			if s.State != status.StateUnreachable {
				return false
			}
		}
		return len(written.FindDebug("support of status.observedGeneration is not known")) > 20
	}, func() string { return fmt.Sprint(written.Find("")) })
	if lines := written.Find("OpenAPI"); len(lines) != 1 || lines[0].Attrs["err"] == "" {
		t.Errorf("%d lines, want 1: %v", len(lines), lines)
	}
	if lines := written.Find("observedGeneration is not known"); len(lines) != 0 {
		t.Errorf("%d lines for single resources: %v", len(lines), lines)
	}
}

// Stop does not wait for the backoff of client-go, which is longer than the time of the program's shutdown.
func TestStopDuringBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := exportertest.MetadataClient(t)
		cluster.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, syscall.ECONNREFUSED
		})
		e := newFakeOf(t, Options{}, struct{ metadata.Interface }{cluster}, nil) // which supports streaming lists
		e.Start(t.Context())
		time.Sleep(10 * time.Minute)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Minute) // client-go's reflectors wake up and end
	})
}
