package chain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Fault is a fault that occurs in real clusters.
type Fault struct {
	Name string
	// Does describes the fault, Shows names the metrics to look at.
	Does, Shows string
	// Alert is the alert to expect once the fault has lasted longer than its `for`; others may fire before. It is empty
	// if the stack recovers before an alert is due.
	Alert string
	// Check is a part of the output of `informer-exporter check` during the fault. It is empty if the command does not detect the fault.
	Check string

	// reconfigures reports whether the fault is in the configuration of the exporter.
	reconfigures bool
	inject       injection
}

// injection injects a fault and returns the function that ends it, even with an error if there is something to undo.
type injection func(ctx context.Context, c *Chain) (end, error)

type end = func(ctx context.Context) error

// nothing ends faults that end on their own.
func nothing(context.Context) error { return nil }

// Inject injects the fault and returns the function that ends it. ctx limits the injection, not the fault. If injection
// fails, it is undone.
func (f Fault) Inject(ctx context.Context, c *Chain) (restore func(context.Context) error, err error) {
	restore, err = f.inject(ctx, c)
	if err != nil {
		if restore != nil {
			err = errors.Join(err, restore(context.WithoutCancel(ctx)))
		}
		return nil, fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return restore, nil
}

// Faults returns all faults.
func Faults() []Fault { return slices.Clone(faults) }

// LiteFaults returns the faults that can be injected into a chain with Options.Lite: those of the network, the API server and
// handlers.
func LiteFaults() []Fault {
	return slices.DeleteFunc(Faults(), func(f Fault) bool {
		return !slices.Contains([]string{"cut", "half-open", "delay", "reset", "mid-event", "apiserver-kill", "apiserver-pause", "slow-handlers"}, f.Name)
	})
}

// FaultByName returns a fault. The error for an unknown name lists all names.
func FaultByName(name string) (Fault, error) {
	var names []string
	for _, f := range faults {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Fault{}, fmt.Errorf("unknown fault %q: use one of %s", name, strings.Join(names, ", "))
}

var faults = []Fault{
	{
		Name: "cut", Does: "connections are reset and new ones refused",
		Shows:  "k8s_informer_watch_connected, k8s_informer_sync_lag_seconds",
		Alert:  "InformerWatchDown",
		Check:  unreachable,
		inject: throughProxy(func(c *Chain) { c.Proxy.Cut() }),
	},
	{
		Name: "half-open", Does: "connections stay open but nothing arrives",
		Shows:  "k8s_informer_sync_lag_seconds",
		Alert:  "InformerSyncLagHigh",
		Check:  unreachable,
		inject: throughProxy(func(c *Chain) { c.Proxy.HalfOpen() }),
	},
	{
		Name: "delay", Does: "API server responses arrive 10 seconds late",
		Shows:  "k8s_informer_sync_lag_seconds, k8s_informer_propagation_seconds",
		Alert:  "InformerSyncLagHigh",
		Check:  unreachable,
		inject: throughProxy(func(c *Chain) { c.Proxy.Delay(10 * time.Second) }),
	},
	{
		Name: "reset", Does: "connections are reset every 3 seconds",
		Shows:  "rate(k8s_informer_watch_disconnects_total[1m]) * 60",
		Alert:  "InformerWatchDisconnects",
		inject: repeatedly(3*time.Second, func(c *Chain) { c.Proxy.Reset() }),
	},
	{
		Name: "mid-event", Does: "every 2 seconds, a connection is reset in mid-event",
		Shows:  "rate(k8s_informer_watch_disconnects_total[1m]) * 60",
		Alert:  "InformerWatchDisconnects",
		inject: repeatedly(2*time.Second, func(c *Chain) { c.Proxy.CutAfter(1500) }),
	},
	{
		Name: "apiserver-kill", Does: "the API server is killed, and restarted at the end",
		Shows: "up, k8s_informer_watch_connected, k8s_informer_sync_errors_total",
		Alert: "KubernetesAPIUnreachable",
		Check: unreachable,
		inject: func(_ context.Context, c *Chain) (end, error) {
			return c.ControlPlane.APIServer.Start, c.ControlPlane.APIServer.Kill()
		},
	},
	{
		Name: "apiserver-pause", Does: "the API server is frozen: connections stay open, requests hang",
		Shows: "k8s_informer_sync_lag_seconds, up",
		Alert: "KubernetesAPIUnreachable",
		Check: unreachable,
		inject: func(_ context.Context, c *Chain) (end, error) {
			resume := func(ctx context.Context) error {
				return errors.Join(c.ControlPlane.APIServer.Resume(), c.ControlPlane.APIServer.WaitReady(ctx))
			}
			return resume, c.ControlPlane.APIServer.Pause()
		},
	},
	{
		Name: "etcd-compact", Does: "during a cut, etcd is compacted and the API server restarted: every informer relists",
		Shows:  `k8s_informer_relists_total{reason="expired"}`,
		Alert:  "InformerCoverageGap",
		inject: compact,
	},
	{
		Name: "etcd-restore", Does: "etcd is restored to its state of 30 seconds ago",
		Shows:  "k8s_informer_audit_differences, k8s_informer_resource_version_regressions_total",
		Alert:  "InformerCacheDiffers",
		inject: restoreEtcd,
	},
	{
		Name: "slow-handlers", Does: "the load generator's handlers take 2 seconds per event",
		Shows: `k8s_informer_handler_pending_events{name="load"}, k8s_informer_event_lag_seconds`,
		Alert: "InformerSyncLagHigh",
		inject: func(_ context.Context, c *Chain) (end, error) {
			c.SlowHandlers(2 * time.Second)
			return func(context.Context) error { c.SlowHandlers(0); return nil }, nil
		},
	},
	{
		Name: "stuck-finalizer", Does: "a Namespace is deleted while a finalizer blocks one of its objects",
		Shows:  "k8s_object_terminating_oldest_seconds",
		Alert:  "ClusterObjectHeld",
		Check:  "terminating",
		inject: stuckFinalizer,
	},
	{
		Name: "blocked-drain", Does: "the load generator keeps evicting a Pod that a PodDisruptionBudget protects",
		Shows: `k8s_client_requests_total{code="429"}`, Alert: "ControllerClientErrors",
		inject: blockDrain,
	},
	{
		Name: "leader-kill", Does: "the demo controller's leader is killed and restarted as a candidate",
		Shows:  "controller_leader, controller_leader_transitions_total",
		inject: killLeader,
	},
	{
		Name: "leader-partition", Does: "the demo controller's leader is cut off from the API server, exits and is restarted",
		Shows:  "controller_leader, controller_leader_last_renew_timestamp_seconds",
		inject: partitionLeader,
	},
	{
		Name: "failing-reconciles", Does: "the demo controller cannot reconcile 20 new Widgets",
		Shows:  "controller_reconcile_total, controller_backoff_seconds, controller_queue_delayed_items, controller_dropped_total",
		Alert:  "ControllerReconcileErrors",
		inject: badWidgets(20, map[string]any{"fail": "transient"}, false),
	},
	{
		Name: "panicking-reconciles", Does: "a new Widget makes the demo controller's reconcile panic",
		Shows:  `controller_reconcile_total{result="panic"}`,
		Alert:  "ControllerReconcilePanics",
		inject: badWidgets(1, map[string]any{"fail": "panic"}, false),
	},
	{
		Name: "hanging-cleanup", Does: "the finalizer cleanups of two Widgets hang, and each attempt blocks a worker for 5 seconds",
		Shows:  `controller_finalizer_overdue, controller_finalizer_attempts_total{result="timeout"}, workqueue_longest_running_processor_seconds`,
		Alert:  "ControllerCleanupOverdue",
		Check:  "terminating",
		inject: badWidgets(2, map[string]any{"cleanup": "hang"}, true),
	},
	{
		Name: "exporter-kill", Does: "the exporter is killed, and restarted at the end",
		Shows: `up{job="informer-exporter"}`, Alert: "InformerExporterAbsent",
		inject: killExporter,
	},
	{
		Name: "unknown-kind", Does: "the exporter's configuration names a resource that is not served",
		Shows: "informer_exporter_kind_up", Alert: "InformerExporterKindDown",
		Check:        "missing",
		reconfigures: true,
		inject:       reconfigure("extraResources", []map[string]string{{"name": "gadgets.example.com"}}),
	},
	{
		Name: "broken-configuration", Does: "the exporter's configuration file gets an unknown field",
		Shows: "informer_exporter_config_last_reload_successful", Alert: "InformerExporterConfigReloadFailed",
		Check:        `unknown field "resuorces"`,
		reconfigures: true,
		inject:       reconfigure("resuorces", []string{"pods"}),
	},
}

func throughProxy(inject func(*Chain)) injection {
	return func(_ context.Context, c *Chain) (end, error) {
		inject(c)
		return func(context.Context) error { return c.Proxy.Restore() }, nil
	}
}

func repeatedly(every time.Duration, strike func(*Chain)) injection {
	return func(ctx context.Context, c *Chain) (end, error) {
		stop := background(ctx, every, func(context.Context) { strike(c) })
		return func(context.Context) error {
			stop()
			return c.Proxy.Restore()
		}, nil
	}
}

// background repeats an action until stop is called, which waits for its end.
func background(ctx context.Context, every time.Duration, action func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { wait.UntilWithContext(ctx, action, every) })
	return func() { cancel(); running.Wait() }
}

// compact cuts the informers off first: a connected watch is not affected by a compaction.
func compact(ctx context.Context, c *Chain) (end, error) {
	c.Proxy.Cut()
	err := func() error {
		before, err := c.ControlPlane.Etcd.Revision(ctx)
		if err != nil {
			return err
		}
		// The events that the informers miss must be in the compacted history.
		if err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, false, func(ctx context.Context) (bool, error) {
			now, err := c.ControlPlane.Etcd.Revision(ctx)
			return now >= before+20, err
		}); err != nil {
			return err
		}
		if _, err := c.ControlPlane.Etcd.Compact(ctx); err != nil {
			return err
		}
		// The watch cache of the running server still has the history that etcd has compacted.
		return killAndStart(ctx, c.ControlPlane.APIServer)
	}()
	return nothing, errors.Join(err, c.Proxy.Restore())
}

func restoreEtcd(ctx context.Context, c *Chain) (end, error) {
	etcd := c.ControlPlane.Etcd
	backup := filepath.Join(c.dir, "etcd-backup-"+time.Now().Format("150405"))
	if err := etcd.Backup(ctx, backup); err != nil {
		return nil, err
	}
	select {
	case <-time.After(30 * time.Second):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := etcd.Restore(ctx, backup); err != nil {
		return nil, err
	}
	return nothing, killAndStart(ctx, c.ControlPlane.APIServer)
}

// killAndStart skips the graceful shutdown, which takes seconds while clients send requests.
func killAndStart(ctx context.Context, server *stack.APIServer) error {
	if err := server.Kill(); err != nil {
		return err
	}
	return server.Start(ctx)
}

func stuckFinalizer(ctx context.Context, c *Chain) (end, error) {
	client, err := kubernetes.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		return nil, err
	}
	namespaces := client.CoreV1().Namespaces()
	namespace, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "stuck-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stuck", Finalizers: []string{"example.com/stuck"}}}
	configMaps := client.CoreV1().ConfigMaps(namespace.Name)
	restore := func(ctx context.Context) error {
		_, unstuck := configMaps.Patch(ctx, object.Name, types.MergePatchType, noFinalizers, metav1.PatchOptions{})
		deleted := namespaces.Delete(ctx, namespace.Name, metav1.DeleteOptions{}) // may be missing if the injection failed
		return errors.Join(unlessNotFound(unstuck), unlessNotFound(deleted))
	}
	if _, err := configMaps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return restore, err
	}
	// The namespace controller would delete it five seconds later, and later still on a busy machine: the alert of the Namespace
	// could precede the one that inhibits it.
	if err := configMaps.Delete(ctx, object.Name, metav1.DeleteOptions{}); err != nil {
		return restore, err
	}
	return restore, namespaces.Delete(ctx, namespace.Name, metav1.DeleteOptions{})
}

// noFinalizers is a patch that removes all finalizers.
var noFinalizers = []byte(`{"metadata":{"finalizers":null}}`)

func unlessNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
