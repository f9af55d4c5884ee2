package alerts

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// exporterNames matches the label name of the exporter's own informers: shards append their number.
const exporterNames = "informer-exporter(-[0-9]+)?"

var informerExporterKindDown = Alert{
	Name:      "InformerExporterKindDown",
	Objective: catalog.Objectives.ExporterKindDown,
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_kind_up{@} == 0`,
	summary:   "The exporter cannot watch {{ $labels.informer_type }}" + inCluster + ".",
	description: "informer-exporter on {{ $labels.@instance }}" + inCluster + " has not been able to watch {{ $labels.informer_type }} " +
		"for more than $for. Its metrics for this resource are missing or stale.",
	Runbook: Runbook{
		Meaning: "For longer than $for, the exporter has been configured to watch a resource that it may not list and watch, or that the API server does not serve. It continues with all other resources.",
		Impact:  "Alerts on this resource cannot fire. The controllers of the cluster are not affected.",
		Diagnosis: []Step{
			{"Find the resources.", `informer_exporter_kind_up{@} == 0`},
			{"Find the response of the API server in the log of the exporter, which has one line per resource. `/readyz?verbose` lists the resources too.", ""},
			{"Check the permission: `kubectl auth can-i watch RESOURCE --as=system:serviceaccount:NAMESPACE:informer-exporter`", ""},
		},
		Mitigation: []string{
			"Grant `list` and `watch` on the resource in the ClusterRole of the exporter.",
			"Remove the resource from the configuration of the exporter if the cluster does not serve it.",
		},
	},
}

var informerExporterConfigReloadFailed = Alert{
	Name:      "InformerExporterConfigReloadFailed",
	Objective: catalog.Objectives.ExporterConfigReload,
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_config_last_reload_successful{@} == 0`,
	summary:   "The exporter cannot load its configuration file" + inCluster + ".",
	description: "informer-exporter on {{ $labels.@instance }}" + inCluster + " has not been able to load its configuration file for more than $for. " +
		"The previous configuration stays in force, but a restart fails.",
	Runbook: Runbook{
		Meaning: "The configuration file of the exporter has been invalid or unreadable for more than $for. The previous configuration is still in force.",
		Impact:  "The change has no effect, and the exporter cannot restart.",
		Diagnosis: []Step{
			{"Find the exporters and the time of their last successful reload. All replicas that share a ConfigMap are affected.", `time() - informer_exporter_config_last_reload_success_timestamp_seconds{@} and informer_exporter_config_last_reload_successful{@} == 0`},
			{"Find the error with its line in the log of the exporter: `invalid configuration file`.", ""},
			{"`exporter check-config FILE` reports the same errors for a local file.", ""},
		},
		Mitigation: []string{
			"Fix the file. The exporter reads it within seconds of a change, or on SIGHUP. A ConfigMap takes up to a minute to reach the Pod.",
			"Or revert the change.",
			"Run `exporter check-config` in the pipeline that deploys the file.",
		},
	},
}

var informerExporterLeaderMissing = Alert{
	Name:      "InformerExporterLeaderMissing",
	Objective: catalog.Objectives.ExporterLeaderMissing,
	board:     exporterBoard,
	labels:    []string{"cluster"},
	expr:      `max by (@cluster, name, lock) (controller_leader{@, name=~"` + exporterNames + `"}) == 0`,
	summary:   "No leader for the audits of the exporter" + inCluster + ".",
	description: "No replica of {{ $labels.name }}" + inCluster + " has held the Lease {{ $labels.lock }} for more than $for, " +
		"so audits are paused. Other metrics are not affected.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--leader-elect`, and none of them has been the leader for longer than $for. Only the leader audits its caches, object by object.",
		Impact:  "A cache that does not lag but is inconsistent with the API server goes undetected, and InformerCacheDiffers cannot fire. Each replica reports all other metrics. No controller is affected.",
		Diagnosis: []Step{
			{"Check the results of attempts to acquire the Lease.", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@, name=~"` + exporterNames + `"}[15m]))`},
			{"Find the response of the API server, with the fix, in the log of the exporter: `Lease is unusable`.", ""},
			{"Check whether all clients of the API server fail. If so, fix that first.", `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Grant `get`, `create` and `update` on Leases in the namespace of the exporter, as `deploy/kustomize/high-availability/role.yaml` does.",
			"A Lease that was edited by hand, or written with a clock far ahead: delete it. The exporters create it again.",
			"To run without audits, disable them in the configuration (`checks.audit: 0s`) and omit `--leader-elect`.",
		},
	},
}

var informerExporterShardMissing = Alert{
	Name:      "InformerExporterShardMissing",
	Objective: catalog.Objectives.ExporterShardMissing,
	board:     exporterBoard,
	labels:    []string{"cluster", "job"},
	// Without --shard, an exporter reports one shard, which is itself.
	expr: `
max by (@cluster, @job) (informer_exporter_shards{@})
-
count by (@cluster, @job) (group by (@cluster, @job, shard) (informer_exporter_shards{@}))
> $threshold
`,
	summary: "Shards of the exporter are missing" + inCluster + ".",
	description: `{{ $value }} shards of the exporter of {{ $labels.@job }}` + inCluster + " have not been scraped for more than $for. " +
		"Their resources are not watched.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--shard`, and fewer shards than configured have been scraped for longer than $for.",
		Impact:  "Alerts on the resources of the missing shards cannot fire. The other shards do not take over their work.",
		Diagnosis: []Step{
			{"Find the present shards, and check that they agree on their number. They may disagree while the number is being changed.", `max by (@cluster, @job, @instance, shard) (informer_exporter_shards{@})`},
			{"Check for failed scrapes.", `up{@, @job=~".*informer-exporter.*"} == 0`},
			{"Check the Pods: `kubectl get pods -A -l app.kubernetes.io/name=informer-exporter`", ""},
		},
		Mitigation: []string{
			"Crash or OOM: `kubectl logs --previous`, and the memory limit. Shards differ in size.",
			"The number in `--shard` and the number of replicas differ: change both.",
			"Each shard has its own job: the alert compares shards within a job. Use one job, or disable the alert.",
		},
	},
}

// recordSeen is the time of the last scrape of an exporter in each cluster.
const recordSeen = "cluster:informer_exporter_build_info:timestamp"

// exporterRecords carry the time forward from evaluation to evaluation, which costs the same for any window.
func exporterRecords(o catalog.Objective, c Config) []Rule {
	const seen = `
max by (@cluster) (timestamp(informer_exporter_build_info{@}))
or
max by (@cluster) (last_over_time(` + recordSeen + `[1h])) > time() - $seconds
`
	return []Rule{{Record: recordSeen, Expr: strings.TrimSpace(c.fill(o, seen))}}
}

var informerExporterAbsent = Alert{
	Name:      "InformerExporterAbsent",
	Objective: catalog.Objectives.ExporterAbsent,
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
	description: "Prometheus has had no metrics of informer-exporter" + inCluster + " for more than $for. Cluster-wide signals are missing.",
	Runbook: Runbook{
		Meaning: "A cluster whose exporter was scraped within the last $window has had no series of it for longer than $for: it does not run, cannot be reached, or is no longer a target of Prometheus.",
		Impact:  "Cluster-wide signals are missing and alerts that depend on them cannot fire. Programs that use the library still report their own metrics.",
		Diagnosis: []Step{
			{"Check whether it is a target, and whether the scrape succeeds. No result means that it is not a target.", `up{@, @job=~".*informer-exporter.*"}`},
			{"Check whether it runs: `kubectl get pods -A -l app.kubernetes.io/name=informer-exporter`", ""},
		},
		Mitigation: []string{
			"Crash or OOM: `kubectl logs --previous`, and its memory limit.",
			"No target: check that the ServiceMonitor selects the Service, and that Prometheus selects the ServiceMonitor (labels, namespaces).",
			"Failed scrape: network policy, or TLS and authentication of its web configuration.",
			"Uninstalled on purpose: silence the alert. It ends $window after the last scrape.",
		},
	},
}
