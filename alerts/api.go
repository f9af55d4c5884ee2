package alerts

import (
	"maps"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// apiUnreachable sums up an outage, so that it is one page instead of one per lock, program and informer.
var apiUnreachable = Alert{
	Name:      "KubernetesAPIUnreachable",
	Objective: catalog.Objectives.APIUnreachable,
	gauge:     true,
	board:     overviewBoard,
	labels:    []string{"cluster"},
	// A program is cut off if it has no watch at all and its attempts fail for a reason that is not its own: forbidden,
	// unauthorized and missing resources (other) are not outages. Where a load balancer accepts connections and closes them,
	// client-go sees watches that end at once instead of errors.
	expr: `
(
  count by (@cluster) (
    max by (@cluster, @job, @instance, name) (k8s_informer_watch_connected{@}) == 0
    and
    (
      sum by (@cluster, @job, @instance, name) (increase(k8s_informer_sync_errors_total{@, error_type=~"refused|timeout|server|throttled"}[$window])) > 0
    or
      sum by (@cluster, @job, @instance, name) (increase(k8s_informer_watch_disconnects_total{@, reason=~"server_close|very_short|refused|throttled"}[$window])) > 0
    )
  )
/
  count by (@cluster) (max by (@cluster, @job, @instance, name) (k8s_informer_watch_connected{@}))
) > $threshold
`,
	summary: "The Kubernetes API" + inCluster + " is unreachable.",
	description: "{{ $value | humanizePercentage }} of the programs with informers" + inCluster + " have no watch, and their requests fail. " +
		"Their caches are stale, and leaders lose their locks.",
	expand: apiUnreachableRules,
	Runbook: Runbook{
		Meaning: "More than $objective of the processes that report informer metrics have lost every watch for $for, and their lists and watches fail, or end at once. Permissions and missing resources do not count. A rule of severity `info` fires earlier and resolves later: it sends no notification, and mutes the alerts that follow from the outage.",
		Impact:  "Nothing in this cluster is reconciled, and no Pod is scheduled or replaced. Running containers and Services continue to work.",
		Diagnosis: []Step{
			{"Find the errors. `refused`: no API server listens at the address. `timeout`: the network, the load balancer, or an API server that is frozen. `server`: etcd, or an API server that is starting. `throttled`: overload.", `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@}[5m])) > 0`},
			{"Find the programs that are still connected. If they run on other nodes than the disconnected programs, check the network of the disconnected nodes.", `max by (@cluster, @job, @instance, name) (k8s_informer_watch_connected{@}) == 1`},
			{"Check the API server: `kubectl get --raw '/readyz?verbose'`. Without a response, check its process, its certificate and its load balancer on the control plane.", ""},
			{"Check etcd: the API server reports it in `/readyz` as `etcd` and `etcd-readiness`.", ""},
		},
		Mitigation: []string{
			"Restore the API server, its load balancer or etcd. Programs reconnect by themselves within a minute; do not restart them, because each restart adds a full list of every resource.",
			"`throttled` or `server` under load: find the client that sends the most requests in the API server's `apiserver_request_total` and its flow schema, and stop it.",
			"An upgrade of a control plane with one API server takes minutes: announce it, and silence this alert for the cluster.",
		},
	},
}

// Outages mute what follows from them: before the page, since locks are lost within seconds, and after it, since gaps and slow
// syncs are counted over a window.
const (
	outageStarts = 6 // the part of the page's wait after which an outage mutes other alerts: 30 s of 3 m
	outageEnds   = 5 // how many times the wait it mutes them after its end: 15 m
)

// apiUnreachableRules returns the page, and a rule that only mutes other alerts.
func apiUnreachableRules(a Alert, o catalog.Objective, c Config) []Rule {
	page := a.rule(o, c)
	mute := a.rule(o, c)
	mute.For = catalog.FormatDuration(o.For / outageStarts)
	mute.KeepFiringFor = catalog.FormatDuration(outageEnds * o.For)
	mute.Labels = maps.Clone(mute.Labels)
	mute.Labels[SeverityLabel] = string(catalog.Info)
	return []Rule{mute, page}
}

// followFromOutage are the alerts that an unreachable API server causes.
func followFromOutage() []Alert {
	return []Alert{
		informerNotSynced, informerSyncSlow, informerListWatchErrors, informerWatchDown, informerWatchDisconnects, informerCoverageGap,
		informerSyncLagHigh, informerEventLagBurn, informerAuditsFail, informerExporterKindDown, informerExporterLeaderMissing,
		controllerQueueBlocked, controllerQueueSlow, controllerQueueDeep, controllerWorkerBusy, controllerItemsDropped,
		controllerReconcileErrors, controllerCleanupOverdue, controllerLeaderMissing, controllerLeaderChanges, controllerLeaderSlowRenewals,
		clusterLeaseExpired, clusterLeaseChanges, clusterGenerationLag, controllerClientErrors, controllerClientThrottled,
	}
}
