package controllerruntime_test

import (
	"net/http"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
)

// The main function of an operator, with cache checks and with metrics that stay available during an outage of the API server.
func ExampleNewManager() {
	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics: metricsserver.Options{
			BindAddress:    ":8443",
			SecureServing:  true,
			FilterProvider: controllerruntime.WithAuthenticationAndAuthorization,
		},
	}, controllerruntime.Options{Name: "my-operator", Checks: collectors.DefaultChecks()})
	if err != nil {
		os.Exit(1)
	}
	// SetupWithManager of each controller, as before.
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}

// A manager is ready once its caches are synced and connected.
func ExampleObserverOf() {
	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{}, controllerruntime.Options{Name: "my-operator"})
	if err != nil {
		os.Exit(1)
	}
	err = mgr.AddReadyzCheck("caches", func(r *http.Request) error {
		return informer.AssertSynced(r.Context(), controllerruntime.ObserverOf(mgr), informer.AssertOptions{NoRequests: true})
	})
	if err != nil {
		os.Exit(1)
	}
}

// An additional cluster has an Observer with its own name.
func ExampleNewCluster() {
	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{}, controllerruntime.Options{Name: "my-operator"})
	if err != nil {
		os.Exit(1)
	}
	obs, err := collectors.New(metrics.Registry, collectors.Options{Name: "my-operator/west"})
	if err != nil {
		os.Exit(1)
	}
	west, err := controllerruntime.NewCluster(obs, ctrl.GetConfigOrDie()) // the configuration of the other cluster
	if err != nil {
		os.Exit(1)
	}
	if err := mgr.Add(west); err != nil {
		os.Exit(1)
	}
}
