// The operator does not use the library: it shows which panels and alerts work for any program on controller-runtime. It copies the
// annotation example.com/tier of each ConfigMap to a label.
package main

import (
	"context"
	"flag"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// tier is the key of the annotation and of the label.
const tier = "example.com/tier"

// TierReconciler copies the annotation to the label.
type TierReconciler struct{ client.Client }

// Reconcile implements reconcile.Reconciler.
func (r *TierReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	want, ok := m.Annotations[tier]
	if !ok || m.Labels[tier] == want {
		return ctrl.Result{}, nil
	}
	changed := m.DeepCopy()
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	changed.Labels[tier] = want
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, changed, client.MergeFrom(&m)))
}

func main() {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	metricsAddr := flag.String("metrics-bind-address", ":8080", "Address of /metrics.")
	namespace := flag.String("leader-election-namespace", "", "Namespace of the Lease. Defaults to the namespace of the service account.")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: *metricsAddr},
		LeaderElection:          true,
		LeaderElectionID:        "tiers",
		LeaderElectionNamespace: *namespace,
	})
	if err == nil {
		err = ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("tier").Complete(&TierReconciler{mgr.GetClient()})
	}
	if err == nil {
		err = mgr.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		ctrl.Log.Error(err, "operator exited")
		os.Exit(1)
	}
}
