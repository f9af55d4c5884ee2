package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// exporterNames matches the label name of the exporter's own informers: shards append their number.
const exporterNames = "informer-exporter(-[0-9]+)?"

var informerExporterKindDown = Alert{
	Name:      "InformerExporterKindDown",
	Objective: catalog.Objectives.ExporterKindDown,
	Reason:    "one resource is not watched; no controller is affected",
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_kind_up{@} == 0`,
	summary:   "The exporter cannot watch {{ $labels.informer_type }}" + inCluster + ".",
	description: "informer-exporter" + inProcess + inCluster + " has not been able to watch {{ $labels.informer_type }} " +
		"for more than $for. Its metrics for this resource are missing or stale.",
	Runbook: Runbook{
		Meaning: "The exporter has been unable to watch a resource for more than $for: it is not allowed to, the API server does not serve the resource, or no watch has opened since the start, for example because the first list hangs. It continues with all other resources.",
		Impact:  "Alerts on this resource cannot fire. The controllers of the cluster are not affected.",
		Commands: []Step{
			{"Read the reason, and the fix where one is known. The exporter logs each only once.", `kubectl -n "$NAMESPACE" logs "$POD" --all-containers | grep -iE 'cannot (watch|read) the resource' | tail -n 30`},
			mayList,
			countObjects.because("Check that the API server serves the resource."),
		},
		Queries: []Step{
			{"Resources that an exporter cannot watch.", `informer_exporter_kind_up{@, ` + inThisCluster + `} == 0`},
		},
		Causes: []string{
			"No permission: grant `list` and `watch` on the resource in the ClusterRole of the exporter.",
			"Not served: remove the resource from the configuration of the exporter, or install its CustomResourceDefinition.",
			"The first list hangs or fails: see the log, and check the health of the API server.",
		},
		Resolves: "within minutes of the fix, without a restart: the query is empty.",
		Escalate: exporterOrIssues,
	},
}

var informerExporterConfigReloadFailed = Alert{
	Name:      "InformerExporterConfigReloadFailed",
	Objective: catalog.Objectives.ExporterConfigReload,
	Reason:    "the previous configuration stays in effect",
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_config_last_reload_successful{@} == 0`,
	summary:   "The exporter cannot load its configuration file" + inCluster + ".",
	description: "informer-exporter" + inProcess + inCluster + " has not been able to load its configuration file for more than $for. " +
		"The previous configuration stays in effect, but a restart fails.",
	Runbook: Runbook{
		Unless:  "the exporter is about to be restarted",
		Meaning: "The configuration file of the exporter has been invalid or unreadable for more than $for. The previous configuration is still in effect.",
		Impact:  "The change has no effect, and the exporter cannot restart.",
		Commands: []Step{
			podLog("invalid configuration file").because("Read the error and its line."),
			{"Show the file as stored in the API server.", `kubectl -n "$NAMESPACE" describe configmaps`},
			describePod.because("If the file is unreadable, look for volumes that could not be mounted."),
		},
		Queries: []Step{
			{"Exporters, and seconds since their last successful reload.", `time() - informer_exporter_config_last_reload_success_timestamp_seconds{@, ` + inThisCluster + `} and informer_exporter_config_last_reload_successful{@, ` + inThisCluster + `} == 0`},
		},
		Causes: []string{
			"A mistake in the file: fix it, or revert the change. The exporter reads it within seconds; a ConfigMap takes up to a minute to reach the Pod.",
			"To find mistakes earlier, run `informer-exporter check-config FILE` in the pipeline that deploys the file.",
		},
		Resolves: "when the file is valid again: the query is empty.",
		Escalate: exporterOrIssues,
	},
}

var informerExporterLeaderMissing = Alert{
	Name:          "InformerExporterLeaderMissing",
	Objective:     catalog.Objectives.ExporterLeaderMissing,
	Reason:        "only audits are missing; no controller is affected",
	board:         exporterBoard,
	labels:        []string{"cluster"},
	namespaceFrom: "lock",
	expr:          `max by (@cluster, name, lock) (controller_leader{@, name=~"` + exporterNames + `"}) == 0`,
	summary:       "No leader for the audits of the exporter" + inCluster + ".",
	description: "The Lease {{ $labels.lock }} of {{ $labels.name }}" + inCluster + " has had no holder for more than $for, " +
		"so audits are paused. Other metrics are not affected.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--leader-elect`, and have had no leader for longer than $for. Only the leader audits its caches, object by object.",
		Impact:  "A cache that does not lag but is inconsistent with the API server goes undetected, and InformerCacheDiffers cannot fire. Each replica reports all other metrics. No controller is affected.",
		Commands: []Step{
			exporterPods,
			{"See the holder and its last renewal.", `kubectl -n "$NAMESPACE" get lease "${LOCK#*/}" -o yaml`},
			{"Find the error and the fix in the log.", `kubectl -n "$NAMESPACE" logs -l app.kubernetes.io/name=informer-exporter --prefix --since=1h --tail=-1 | grep -iE 'lease' | tail -n 30`},
		},
		Queries: []Step{
			{"Attempts of the exporters to acquire the Lease.", `sum by (@pod, result) (increase(controller_leader_renew_duration_seconds_count{@, ` + inThisCluster + `, lock="$LOCK"}[15m]))`},
			{"Failed lists and watches. If all programs have them, fix the API server first.", `sum by (name, error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+inThisCluster+`}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"No permission: grant `get`, `create` and `update` on Leases in the namespace of the exporter, as `deploy/kustomize/high-availability/role.yaml` does.",
			"The Lease was edited by hand, for example to a long `leaseDurationSeconds`: delete it. The exporters create it again.",
			"To run without audits, disable them (`checks.audit: 0s`) and omit `--leader-elect`.",
		},
		Resolves: "when an exporter acquires the Lease: it has a `holderIdentity` and a current `renewTime`.",
		Escalate: exporterOrIssues,
	},
}

var informerExporterMemoryHigh = Alert{
	Name:      "InformerExporterMemoryHigh",
	Objective: catalog.Objectives.ExporterMemory,
	Reason:    "the exporter still works, with a fifth of GOMEMLIMIT left",
	board:     exporterBoard,
	labels:    ofExporter,
	// The heap and not the resident memory: Go lets garbage grow up to the limit, which is healthy. A heap that remains high through
	// several collections is in use. Without a limit, GOMEMLIMIT is larger than any memory.
	expr: `
go_memstats_heap_alloc_bytes{@} / go_gc_gomemlimit_bytes{@} > $threshold
and on (@cluster, @namespace, @job, @instance)
informer_exporter_build_info{@}
`,
	summary: "The exporter is near its memory limit" + inCluster + ".",
	description: "informer-exporter" + inProcess + inCluster + " has used {{ $value | humanizePercentage }} of GOMEMLIMIT for more than $for; " +
		"the objective is at most $objective. It will be OOM-killed if its caches grow.",
	Runbook: Runbook{
		Unless:  "the heap is above 95%",
		Meaning: "The heap of the exporter has been above $objective of GOMEMLIMIT for $for, through several garbage collections. GOMEMLIMIT is 80% of the container's memory limit (`--auto-gomemlimit`).",
		Impact:  "The exporter uses more CPU for garbage collection, and is OOM-killed when its caches grow. Cluster-wide signals are then missing.",
		Commands: []Step{
			describePod.because("See the memory limit, and whether it was `OOMKilled`."),
			podUsage,
			{"Raise the memory limit: replace 512Mi with twice the current limit. `WORKLOAD` is the owner of the Pod, such as `deployment/informer-exporter`.", `kubectl -n "$NAMESPACE" set resources "$WORKLOAD" --limits=memory=512Mi`},
		},
		Queries: []Step{
			{"Heap: does it grow, or did it jump?", `go_memstats_heap_alloc_bytes{@, ` + ofThisProcess + `}`},
			{"Largest caches.", `topk(10, max by (informer_type) (k8s_informer_objects{@, ` + ofThisProcess + `}))`},
			{"Number of series.", `scrape_samples_scraped{@, ` + ofThisProcess + `}`},
		},
		Causes: []string{
			"The cluster has grown: raise the memory limit. An exporter needs at most 40 MiB per 100,000 objects.",
			"A resource with very many objects that needs no monitoring: exclude it in the configuration of the exporter.",
			"The cluster is too large for one exporter: run several shards (`--shard`).",
		},
		Resolves: "when the heap stays below $objective: see the first query.",
		Escalate: exporterOrIssues,
	},
}

var informerExporterShardMissing = Alert{
	Name:      "InformerExporterShardMissing",
	Objective: catalog.Objectives.ExporterShardMissing,
	Reason:    "some resources are not watched; no controller is affected",
	board:     exporterBoard,
	labels:    []string{"cluster", "job"},
	// Without --shard, an exporter reports one shard, which is itself.
	expr: `
max by (@cluster, @namespace, @job) (informer_exporter_shards{@})
-
count by (@cluster, @namespace, @job) (group by (@cluster, @namespace, @job, shard) (informer_exporter_shards{@}))
> $threshold
`,
	summary: "Shards of the exporter are missing" + inCluster + ".",
	description: `{{ $value }} shards of the exporter in ` + thisJob + " have not been scraped for more than $for. " +
		"Their resources are not watched.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--shard`, and fewer shards than configured have been scraped for longer than $for.",
		Impact:  "Alerts on the resources of the missing shards cannot fire. The other shards do not take over their work.",
		Commands: []Step{
			{"Compare the desired and the ready replicas.", `kubectl get deployments,statefulsets -A -l app.kubernetes.io/name=informer-exporter`},
			exporterPods,
			exporterLog,
		},
		Queries: []Step{
			{"Shards that are scraped. The value is the configured number of shards, which must be the same for all.", `max by (@pod, @instance, shard) (informer_exporter_shards{@, ` + inThisCluster + `, @job="$JOB"})`},
			{"Failed scrapes.", `up{@, ` + inThisCluster + `, @job="$JOB"} == 0`},
		},
		Causes: []string{
			"Crash or OOM: see the Pods, and raise the memory limit. Shards differ in size.",
			"The number in `--shard` and the number of replicas differ: make them equal.",
			"Each shard has its own job: the alert compares shards within a job. Use one job, or disable the alert.",
		},
		Resolves: "when all shards are scraped: the first query has a row for each.",
		Escalate: exporterOrIssues,
	},
}

// recordSeen is the time of the last scrape of each exporter.
const recordSeen = "instance:informer_exporter_build_info:timestamp"

// exporterRecords carry the time forward from evaluation to evaluation, which costs the same for any window. The exporter of a cluster is
// not missing, and its time is forgotten, once its target appears in another cluster: the label cluster was added or changed. The target
// counts as new for longer than the time is remembered, since Prometheus keeps the old series for some scrapes.
func exporterRecords(o catalog.Objective, c Config) []Rule {
	const seen = `
max by (@cluster, @job, @instance) (timestamp(informer_exporter_build_info{@}))
or
(
  max by (@cluster, @job, @instance) (last_over_time(` + recordSeen + `[1h])) > time() - $seconds
  unless on (@cluster)
  informer_exporter_build_info{@}
  unless on (@cluster)
  (
    last_over_time(` + recordSeen + `[1h])
    and on (@job, @instance)
    (informer_exporter_build_info{@} unless on (@cluster, @job, @instance) last_over_time(informer_exporter_build_info{@}[1h] offset 2h))
  )
)
`
	return []Rule{c.recording(o, recordSeen, seen)}
}

var informerExporterAbsent = Alert{
	Name:      "InformerExporterAbsent",
	Objective: catalog.Objectives.ExporterAbsent,
	Reason:    "the cluster is not monitored; no controller is affected",
	gauge:     true,
	board:     exporterBoard,
	labels:    []string{"cluster"},
	// absent() has no label for the cluster that lost its exporter, and would fire where none was ever installed.
	record: exporterRecords,
	expr: `
max by (@cluster) (` + recordSeen + `) > time() - $seconds
unless
group by (@cluster) (informer_exporter_build_info{@})
`,
	summary:     "informer-exporter is missing" + inCluster + ".",
	description: "Prometheus has received no metrics from informer-exporter" + inCluster + " for more than $for. Cluster-wide signals are missing.",
	Runbook: Runbook{
		Meaning: "The exporter of a cluster was scraped within the last $window, and has had no series for longer than $for: it does not run, cannot be reached, or is no longer a target of Prometheus.",
		Impact:  "Cluster-wide signals are missing and alerts that depend on them cannot fire. Programs that use the library still report their own metrics.",
		Commands: []Step{
			exporterPods,
			{"If no Pod is ready, read the events.", `kubectl get events -A --field-selector type!=Normal | grep informer-exporter`},
			{"Check that the Service has endpoints. Without them, it cannot be scraped.", `kubectl get services,endpointslices -A -l app.kubernetes.io/name=informer-exporter`},
		},
		Queries: []Step{
			{"Scrapes of the exporter. 0: the scrape fails. No result: it is not a target.", `up{@, ` + inThisCluster + `, @job=~".*informer-exporter.*"}`},
		},
		Causes: []string{
			"Crash or OOM: read `kubectl logs --previous` of the Pod, and raise the memory limit.",
			"No target: check that the ServiceMonitor selects the Service, and that Prometheus selects the ServiceMonitor (labels, namespaces).",
			"Failed scrape: network policy, or TLS and authentication of its web configuration.",
			"Uninstalled on purpose: silence the alert. It resolves $window after the last scrape.",
		},
		Resolves: "with the next successful scrape: the query is 1.",
		Escalate: exporterOrIssues,
	},
}
