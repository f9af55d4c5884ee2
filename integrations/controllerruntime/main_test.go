package controllerruntime_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// unreachable is the configuration of managers that are never started.
func unreachable() *rest.Config { return &rest.Config{Host: "http://127.0.0.1:1"} }

// quiet returns options for tests: no server, and controllers with names that other tests use as well.
func quiet(options ctrl.Options) ctrl.Options {
	again := true
	options.Metrics = server.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: &again, UsePriorityQueue: options.Controller.UsePriorityQueue}
	return options
}

// runningManager is a manager with separate metrics.
type runningManager struct {
	ctrl.Manager
	t        *testing.T
	registry *prometheus.Registry
	stop     func()
}

// newManager returns a manager with the name test. run starts it.
func newManager(t *testing.T, config *rest.Config, options ctrl.Options) *runningManager {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	mgr, err := controllerruntime.NewManager(config, quiet(options), controllerruntime.Options{Name: "test", Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	return &runningManager{Manager: mgr, t: t, registry: registry}
}

// run starts the manager and returns once it leads and its caches and controllers have been started.
func (m *runningManager) run() {
	m.t.Helper()
	done := m.start()
	select {
	case <-m.Elected():
	case err := <-done:
		done <- err
		m.t.Fatal("the manager has ended: ", err)
	}
}

// start starts the manager. The channel receives the result of Start.
func (m *runningManager) start() chan error {
	ctx, cancel := context.WithCancel(m.t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	stopped := false
	m.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			m.t.Error(err)
		}
	}
	m.t.Cleanup(m.stop)
	return done
}

func (m *runningManager) eventually(what string, condition func() bool) {
	m.t.Helper()
	await.True(m.t, what, condition)
}

func (m *runningManager) samples() metricstest.Samples {
	m.t.Helper()
	return metricstest.Gather(m.t, m.registry)
}

// value returns the sum of a metric for an informer, or -1 without series.
func (m *runningManager) value(metric, informerType, namespace string) float64 {
	m.t.Helper()
	series := m.samples().Select(metric, "informer_type", informerType, "watch_namespace", namespace)
	if len(series) == 0 {
		return -1
	}
	return series.Sum(metric)
}
