package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// exporterNames matches the values of the label name on the exporter's own informers: shards have their number in theirs.
const exporterNames = "informer-exporter(-[0-9]+)?"

var informerExporterKindDown = Alert{
	Name:      "InformerExporterKindDown",
	Objective: catalog.ExporterKindDown,
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_kind_up{@} == 0`,
	summary:   "The exporter cannot watch {{ $labels.informer_type }}" + inCluster + ".",
	description: "informer-exporter on {{ $labels.@instance }} was asked to watch {{ $labels.informer_type }}" + inCluster +
		" and has not been able to for more than $for. It reports nothing about this resource.",
	Runbook: Runbook{
		Meaning: "The exporter was asked to watch a resource that it may not list and watch, or that the server does not have, for longer than $for. It goes on with all others.",
		Impact:  "Nothing is known about this resource: alerts about it cannot fire. The controllers of the cluster are not affected.",
		Diagnosis: []Step{
			{"Which resources?", `informer_exporter_kind_up{@} == 0`},
			{"The exporter's log has one line for each of them with the server's answer; `/readyz?verbose` lists them too.", ""},
			{"May it?  `kubectl auth can-i watch RESOURCE --as=system:serviceaccount:NAMESPACE:informer-exporter`", ""},
		},
		Mitigation: []string{
			"Grant `list` and `watch` on the resource in the exporter's ClusterRole.",
			"Take the resource out of the exporter's configuration if the cluster does not have it.",
		},
	},
}

var informerExporterConfigReloadFailed = Alert{
	Name:      "InformerExporterConfigReloadFailed",
	Objective: catalog.ExporterConfigReload,
	board:     exporterBoard,
	labels:    ofExporter,
	expr:      `informer_exporter_config_last_reload_successful{@} == 0`,
	summary:   "The configuration file of the exporter cannot be used" + inCluster + ".",
	description: "informer-exporter on {{ $labels.@instance }}" + inCluster + " has not been able to use its configuration file for more than $for. " +
		"It goes on with the configuration before, and will not start again with this one.",
	Runbook: Runbook{
		Meaning: "The exporter's configuration file has changed and what it says now is not a configuration, or it cannot be read, for longer than $for. The configuration that was in force before the change still is.",
		Impact:  "None yet, but what the change was meant to do has not happened, and an exporter that is restarted does not come up.",
		Diagnosis: []Step{
			{"Which exporters, and since when? All replicas that share a ConfigMap have the same trouble.", `time() - informer_exporter_config_last_reload_success_timestamp_seconds{@} and informer_exporter_config_last_reload_successful{@} == 0`},
			{"The exporter's log says what is wrong, with the line and often with what was probably meant: `The configuration cannot be used`.", ""},
			{"`exporter check-config FILE` says the same about a file at hand.", ""},
		},
		Mitigation: []string{
			"Correct the file; within some seconds after it has changed, or on SIGHUP, it is read again. A ConfigMap takes up to a minute to reach the pod.",
			"Or undo the change.",
			"Let the pipeline that deploys the file run `exporter check-config` before.",
		},
	},
}

var informerExporterLeaderMissing = Alert{
	Name:      "InformerExporterLeaderMissing",
	Objective: catalog.ExporterLeaderMissing,
	board:     exporterBoard,
	labels:    []string{"cluster"},
	expr:      `max by (@cluster, name, lock) (controller_leader{@, name=~"` + exporterNames + `"}) == 0`,
	summary:   "No replica of the exporter makes audits" + inCluster + ".",
	description: "None of the replicas of {{ $labels.name }}" + inCluster + " has held the Lease {{ $labels.lock }} for more than $for, " +
		"so that none of them makes audits. They report everything else.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--leader-elect`, and each of them has said for longer than $for that it is not the leader. Only the leader compares its caches with the API server, object by object.",
		Impact:  "A cache that differs from the API server without lagging is not found, and InformerCacheDiffers cannot fire. Everything else is reported by each replica. No controller is affected.",
		Diagnosis: []Step{
			{"What do attempts to get the Lease meet?", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@, name=~"` + exporterNames + `"}[15m]))`},
			{"The exporter's log has one line with the answer of the API server, and how to mend it: `The Lease cannot be used`.", ""},
			{"Do all clients of the API server have trouble? Then that comes first.", `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Grant `get`, `create` and `update` on Leases in the exporter's namespace, as `deploy/kustomize/high-availability/role.yaml` does.",
			"A Lease that was changed by hand, or written by a clock far ahead: delete it; the exporters create it again.",
			"If audits are not wanted at all, turn them off in the configuration (`checks.audit: 0s`) and leave `--leader-elect` out.",
		},
	},
}

var informerExporterShardMissing = Alert{
	Name:      "InformerExporterShardMissing",
	Objective: catalog.ExporterShardMissing,
	board:     exporterBoard,
	labels:    []string{"cluster", "job"},
	// Without --shard an exporter says that there is one, and is it.
	expr: `
max by (@cluster, @job) (informer_exporter_shards{@})
-
count by (@cluster, @job) (group by (@cluster, @job, shard) (informer_exporter_shards{@}))
> $threshold
`,
	summary: "Not all shards of the exporter are there" + inCluster + ".",
	description: `{{ $value }} of the exporters of {{ $labels.@job }}` + inCluster + " that share the work have not been scraped for more than $for. " +
		"Nobody watches what falls to them.",
	Runbook: Runbook{
		Meaning: "The exporters run with `--shard`, and fewer of them have been scraped than they were told there are, for longer than $for.",
		Impact:  "Nothing is known about the resources of the shards that are missing: alerts about them cannot fire. The other shards do not take their work over.",
		Diagnosis: []Step{
			{"Which are there, and do they agree on their number? They may not while it is being changed.", `max by (@cluster, @job, @instance, shard) (informer_exporter_shards{@})`},
			{"Does a scrape fail?", `up{@, @job=~".*informer-exporter.*"} == 0`},
			{"Do the Pods run?  `kubectl get pods -A -l app.kubernetes.io/name=informer-exporter`", ""},
		},
		Mitigation: []string{
			"Crash or OOM: `kubectl logs --previous`, and the memory limit. The shards are not equally large.",
			"The number in `--shard` and that of the replicas differ: change both.",
			"Each shard has a job of its own: the alert compares within a job; give them one, or disable it.",
		},
	},
}

var informerExporterAbsent = Alert{
	Name:      "InformerExporterAbsent",
	Objective: catalog.ExporterAbsent,
	board:     exporterBoard,
	labels:    []string{"cluster"},
	// absent() alone cannot tell which of several clusters has lost its exporter, and the second part alone forgets after a
	// day that there ever was one. The first begins where the second ends, or whoever is paged would be paged twice at once.
	expr: `
absent(group(present_over_time(informer_exporter_build_info{@}[1d])))
or
(
  group by (@cluster) (present_over_time(informer_exporter_build_info{@}[1d]))
unless
  group by (@cluster) (informer_exporter_build_info{@})
)
`,
	summary:     "informer-exporter is gone" + inCluster + ".",
	description: "Prometheus has had no metrics of informer-exporter" + inCluster + " for more than $for. Nobody watches the informers of the cluster from outside.",
	Runbook: Runbook{
		Meaning: "No series of the exporter has been scraped for longer than $for: it is not running, cannot be reached, or is no longer a target of Prometheus.",
		Impact:  "The cluster-wide signals are missing and no alert that depends on them can fire. Programs that use the library report about themselves as before.",
		Diagnosis: []Step{
			{"Is it a target at all, and does the scrape succeed? No result means that it is no target.", `up{@, @job=~".*informer-exporter.*"}`},
			{"Does it run?  `kubectl get pods -A -l app.kubernetes.io/name=informer-exporter`", ""},
		},
		Mitigation: []string{
			"Crash or OOM: `kubectl logs --previous`, and its memory limit.",
			"No target: does the ServiceMonitor select the Service, and does Prometheus select the ServiceMonitor (labels, namespaces)?",
			"Scrape fails: network policy, or TLS and authentication of its web configuration.",
			"If only the library is used and no exporter is meant to run, list this alert under `disabled` in the generator's configuration.",
		},
	},
}
