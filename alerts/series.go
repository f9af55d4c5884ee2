package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerSeriesLimitReached = Alert{
	Name:      "InformerSeriesLimitReached",
	Objective: catalog.Objectives.SeriesLimit,
	Reason:    "only details are missing, until the limit is raised",
	labels:    ofProgram,
	// Most items exceed a limit when a process starts, before its first scrape, which a rate does not see. Objects come and go:
	// a peak that is over needs no action. Leases without series are those that are only counted.
	expr: `
sum by (@cluster, @namespace, @job, name, label) (last_over_time(k8s_informer_label_overflow_total{@}[$window])) > $threshold
or
max by (@cluster, @namespace, @job, signal) (
  label_replace(
    sum by (@cluster, @namespace, @job, @instance) (k8s_lease_objects{@, purpose="leader"})
    - on (@cluster, @namespace, @job, @instance)
    count by (@cluster, @namespace, @job, @instance) (k8s_lease_renewed_timestamp_seconds{@}),
  "signal", "leases", "", "")
) > $threshold
or
max by (@cluster, @namespace, @job, signal) (` + occurred(`k8s_object_overflow_total{@, signal!="leases"}`) + `) > $threshold
`,
	summary: "{{ with $labels.name }}Label limit of {{ . }}{{ else }}Series limit of the exporter{{ end }}" + cluster +
		" exceeded: {{ $labels.label }}{{ $labels.signal }}.",
	description: `Series of {{ $value | printf "%.0f" }} items of ` + thisJob + " are dropped, because " +
		"{{ with $labels.label }}the label {{ . }}{{ end }}{{ with $labels.signal }}the signal {{ . }}{{ end }} has reached its limit.",
	Runbook: Runbook{
		Meaning: "A label of a program has had more values than its limit since the start of the process, or the exporter has more Leases or objects than its limits allow. Further values share the series with the value `other`; further Leases are only counted. Namespaces share the exporter's limits equally, `kube-system` first.",
		Impact:  "Alerts and dashboards cannot distinguish the items in `other`. For Leases without a series, ClusterLeaseExpired and ControllerLeaderMissing cannot fire.",
		Commands: []Step{
			listPods,
			replicaLog("limit|overflow").because("Find the values in the log."),
			{"Count the Leases of each namespace.", `kubectl get leases -A --no-headers | awk '{n[$1]++} END {for (i in n) print n[i], i}' | sort -rn | head`},
		},
		Queries: []Step{
			{"Labels of programs.", `sum by (@namespace, name, label) (last_over_time(k8s_informer_label_overflow_total{@, ` + inThisCluster + `}[1h])) > 0`},
			{"Objects beyond the exporter's limits in the last hour.", `max by (@job, signal) (` + prom.Occurred(`k8s_object_overflow_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"Legitimate values: raise the limit in `Options.Limits` of the program, and restart it. The limits of the exporter are fixed.",
			"Generated names of handlers or controllers, which contain a number or a key: use fixed names.",
			"Thousands of terminating objects: see ClusterObjectHeld.",
			"Leases or finalizers created in bulk in one namespace: stop the program that creates them. Other namespaces keep their series.",
		},
		Resolves: "when the process restarts with a higher limit; for Leases, when all have series; for objects, $window after the last one that exceeded the limit.",
		Escalate: controllerTeam + "; if the alert has the label `signal`, " + exporterTeam,
	},
}

var informerScrapeSlow = Alert{
	Name:      "InformerScrapeSlow",
	Objective: catalog.Objectives.ScrapeDuration,
	Reason:    "scrapes still succeed; a target that is down is covered by an alert on `up`",
	labels:    ofExporter,
	// Only targets with informers.
	expr: `
scrape_duration_seconds{@} > $threshold
and on (@cluster, @namespace, @job, @instance)
k8s_informer_synced{@}
`,
	summary: "Scrapes of " + thisProcess + ofJob + " take {{ $value | humanizeDuration }}.",
	description: "Scrapes of " + thisProcess + ofJob + " have taken more than $objective for $for, now {{ $value | humanizeDuration }}. " +
		"Prometheus gives up after its scrape timeout, by default 10s.",
	Runbook: Runbook{
		Meaning: "Scrapes of a program with informers have taken longer than $objective for $for. Prometheus drops a scrape that exceeds its timeout, by default 10 s, and all series of the target are then missing.",
		Impact:  "When scrapes exceed the timeout, no alert on this program can fire. Until then, nothing is missing.",
		Commands: []Step{
			podUsage,
			describePod,
			{"Measure a scrape without the network path of Prometheus. (401 or 403: it needs a token.)", `kubectl -n "$NAMESPACE" port-forward "pod/$POD" "26060:${INSTANCE##*:}" >/dev/null & curl -fsS --retry 9 --retry-delay 1 --retry-connrefused -o metrics.txt -w '%{time_total} s, %{size_download} bytes\n' 'http://localhost:26060/metrics'; kill $!`},
		},
		Queries: []Step{
			{"Duration.", `scrape_duration_seconds{@, ` + ofThisProcess + `}`},
			{"Number of samples. If only the duration grows, the process is short of CPU.", `scrape_samples_scraped{@, ` + ofThisProcess + `}`},
			{"CPU usage of the process.", `rate(process_cpu_seconds_total{@, ` + ofThisProcess + `}[5m])`},
		},
		Causes: []string{
			"CPU throttling: raise the limit of the process.",
			"Too many series of the exporter: exclude resources, or run several shards.",
			"The path to the target is slow: check its network, and TLS or authentication proxies in front of it.",
			"As a workaround, raise `scrapeTimeout`, and the objective `scrape_duration` with it. It must stay below the timeout, because a scrape that times out has no series.",
		},
		Resolves: "when a scrape takes at most $objective: see the first query.",
		Escalate: controllerTeam + ", or " + exporterTeam,
	},
}

var controllerHistogramsWithoutBuckets = Alert{
	Name:      "ControllerHistogramsWithoutBuckets",
	Objective: catalog.Objectives.HistogramBuckets,
	Reason:    "a setting in Prometheus or in the program; nothing is broken",
	board:     controllerBoard,
	labels:    []string{"cluster", "job"},
	// A histogram's own name is a series only if it is stored as a native histogram. The queue latency stands for all
	// histograms, because every controller has it.
	expr: `
group by (@cluster, @namespace, @job) (workqueue_queue_duration_seconds@otherSeries{@})
unless
group by (@cluster, @namespace, @job) (present_over_time(workqueue_queue_duration_seconds@series{@}[5m]))
`,
	summary: "Histograms of " + thisJob + " have no @form buckets.",
	description: "Prometheus stores the histograms of " + thisJob + " as @otherForm histograms only. " +
		"Rules and dashboards read @form histograms and find no data.",
	Runbook: Runbook{
		Meaning: "Prometheus has scraped the histograms of a job as @otherForm histograms only, for $for. Rules and dashboards read @form ones, as set by `histograms` in the generator's configuration.",
		Impact:  "Alerts on queue latency, blocked and deep queues, event lag, handlers and throttling cannot fire for this job, and their panels are empty.",
		Commands: []Step{
			{"Find the settings of the Prometheus operator, if it is used.", `kubectl get prometheuses,servicemonitors,podmonitors -A -o yaml | grep -nE 'ative|lassic'`},
			{"Without the operator: find the settings in the configuration of Prometheus.", `kubectl get configmaps -A -o yaml | grep -nE '(scrape|convert)_(native|classic)'`},
			{"Find the form that the rules read. 0: native histograms.", `kubectl get prometheusrules -A -o yaml | grep -c 'k8s_informer_event_lag_seconds_bucket'`},
		},
		Queries: []Step{
			{"Affected jobs.", `group by (@job) (workqueue_queue_duration_seconds@otherSeries{@, ` + inThisCluster + `}) unless group by (@job) (present_over_time(workqueue_queue_duration_seconds@series{@, ` + inThisCluster + `}[5m]))`},
		},
		Causes: []string{
			"Rules for classic histograms, and `scrape_native_histograms: true` or `convert_classic_histograms_to_nhcb: true`: set `always_scrape_classic_histograms: true` as well (`scrapeClassicHistograms` in the monitors of the Prometheus operator), or generate rules and dashboards with `histograms: native`.",
			"Rules for native histograms: set `scrape_native_histograms: true` and `convert_classic_histograms_to_nhcb: true` (`scrapeNativeHistograms` and `convertClassicHistogramsToNHCB`).",
		},
		Resolves: "with the next scrape that stores @form histograms: the query is empty.",
		Escalate: exporterTeam,
	},
}
