package exporter

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestMain fails if tests leak goroutines. Tests that run in parallel, with start instead of run, cannot check that themselves.
func TestMain(m *testing.M) {
	known := goleak.IgnoreCurrent()
	code := stacktest.Run(m)
	if err := leaktest.Find(known); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "the tests leak goroutines:", err)
		code = 1
	}
	os.Exit(code)
}

// start starts e and stops it at the end of the test.
func start(t *testing.T, e *Exporter) {
	t.Helper()
	e.Start(klog.NewContext(t.Context(), logr.FromSlogHandler(e.log.Handler()))) // client-go uses the logger of the exporter, as in the program
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
}

// run is start for a test that does not run in parallel: once e has stopped, none of its goroutines may be left. It first
// closes the connections that the test has opened with the other client configurations.
func run(t *testing.T, e *Exporter, others ...*rest.Config) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		for _, config := range others {
			transport, err := rest.TransportFor(config)
			if err != nil {
				t.Error(err)
			}
			utilnet.CloseIdleConnectionsFor(transport)
		}
		// The goroutine that waits for a restarted server belongs to the package that started it.
		leaktest.None(t, leaks, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
	})
	start(t, e)
}

// get requests a path of e.
func get(e *Exporter, target string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response := httptest.NewRecorder()
	e.Handler().ServeHTTP(response, request)
	return response
}

func namesOf(targets []*informers.Informer) []string {
	var list []string
	for _, t := range targets {
		list = append(list, t.Name())
	}
	return list
}

// every returns an interval of the configuration file.
func every(d time.Duration) *configfile.Duration {
	interval := configfile.Duration(d)
	return &interval
}

// noVersion is the client.Connection's ListVersion of a cluster without lists at a version.
func noVersion(context.Context, schema.GroupVersionResource, string, string) (string, error) {
	return "", nil
}
