package exporter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// run starts e and stops it at the end of the test, after which nothing of it may be running. Connections that the test
// itself has opened with the other configurations are closed before that is checked.
func run(t *testing.T, e *Exporter, others ...*rest.Config) {
	t.Helper()
	// What client-go logs goes where the exporter logs, as the program has it.
	ctx := klog.NewContext(t.Context(), logr.FromSlogHandler(e.log.Handler()))
	leaks := goleak.IgnoreCurrent()
	e.Start(ctx)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
		for _, config := range others {
			transport, err := rest.TransportFor(config)
			if err != nil {
				t.Error(err)
			}
			utilnet.CloseIdleConnectionsFor(transport)
		}
		// A server that a test has restarted is waited for by the package that started it.
		goleak.VerifyNone(t, leaks, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
	})
}

// get asks e for a path.
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

// every is an interval as it is in a configuration file.
func every(d time.Duration) *configfile.Duration {
	interval := configfile.Duration(d)
	return &interval
}
