// The example is an operator scaffolded with kubebuilder, with two controllers. Two changes to main.go instrument it:
// the import of controllerruntime, and its NewManager with the name of the operator. A third one, the FilterProvider of the
// secured metrics, keeps them available during an outage of the API server. Two more lines, newTracer and stopTracing, trace it.
//
// From a checkout, with a kubeconfig:
//
//	cd examples/controller-runtime
//	go run . --metrics-secure=false --metrics-bind-address=localhost:8080
//	curl --silent localhost:8080/metrics | grep '^k8s_informer_synced'
package main

import (
	"flag"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
}

func main() {
	var (
		metricsAddr, probeAddr  string
		enableLeaderElection    bool
		secureMetrics           bool
		leaderElectionNamespace string
	)
	flag.StringVar(&metricsAddr, "metrics-bind-address", ":8443", "Address of /metrics. 0 disables it.")
	flag.BoolVar(&secureMetrics, "metrics-secure", true, "Serve /metrics by HTTPS, to clients that the API server allows to get it.")
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz.")
	flag.BoolVar(&enableLeaderElection, "leader-elect", false, "Enable leader election.")
	flag.StringVar(&leaderElectionNamespace, "leader-election-namespace", "", "Namespace of the Lease. Defaults to that of the service account.")
	opts := zap.Options{Development: true}
	opts.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))

	tracer, stopTracing := newTracer()
	metricsOptions := metricsserver.Options{BindAddress: metricsAddr, SecureServing: secureMetrics}
	if secureMetrics {
		metricsOptions.FilterProvider = controllerruntime.WithAuthenticationAndAuthorization
	}
	mgr, err := controllerruntime.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                  scheme,
		Cache:                   cache.Options{DefaultNamespaces: watchNamespaces()},
		Metrics:                 metricsOptions,
		HealthProbeBindAddress:  probeAddr,
		LeaderElection:          enableLeaderElection,
		LeaderElectionID:        "owner-labels.example.com",
		LeaderElectionNamespace: leaderElectionNamespace,
	}, controllerruntime.Options{Name: "owner-labels", Tracer: tracer})
	if err != nil {
		setupLog.Error(err, "unable to start manager")
		os.Exit(1)
	}
	if err := (&OwnerReconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("owner-controller")}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "unable to create controller", "controller", "owner")
		os.Exit(1)
	}
	if err := (&SettingsReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "unable to create controller", "controller", "settings")
		os.Exit(1)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "unable to set up health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "unable to set up ready check")
		os.Exit(1)
	}
	setupLog.Info("starting manager")
	err = mgr.Start(ctrl.SetupSignalHandler())
	stopTracing()
	if err != nil {
		setupLog.Error(err, "problem running manager")
		os.Exit(1)
	}
}

// watchNamespaces returns the namespaces in WATCH_NAMESPACE, separated by commas. Without any, all are watched.
func watchNamespaces() map[string]cache.Config {
	namespaces := map[string]cache.Config{}
	for name := range strings.SplitSeq(os.Getenv("WATCH_NAMESPACE"), ",") {
		if name != "" {
			namespaces[name] = cache.Config{}
		}
	}
	return namespaces
}
