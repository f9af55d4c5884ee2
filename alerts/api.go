package alerts

import (
	"cmp"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// notServers excludes the API servers' requests to themselves.
const notServers = ` unless on (@cluster, @job, @instance) apiserver_longrunning_requests{@}`

// apiUnreachable sums up an outage, so that it is one page instead of one per lock, program and informer.
var apiUnreachable = Alert{
	Name:      "KubernetesAPIUnreachable",
	Objective: catalog.Objectives.APIUnreachable,
	Reason:    "most controllers of the cluster make no progress",
	gauge:     true,
	board:     overviewBoard,
	labels:    []string{"cluster"},
	record:    apiUnreachableRecords,
	expr: `
max_over_time(` + recordUnreachable + `[$range])
and
$unreachable
`,
	summary: "The Kubernetes API" + inCluster + " is unreachable.",
	description: "Up to {{ $value | humanizePercentage }} of the programs" + inCluster + " could not reach the API server for more than $for of the last $range. " +
		"Their caches are stale, and leaders lose their locks.",
	expand: apiUnreachableRules,
	Runbook: Runbook{
		Meaning: "More than $objective of the programs were cut off from the API server for more than $for of the last $range: they had lost every watch, and their lists and watches failed or ended immediately.\n\nProcesses with the same cluster, namespace, job and `name` are one program, which is cut off if all of them are. Forbidden and missing resources do not count. Server errors and rejected tokens count only while no program has a watch. Programs with targets that are all down count once another program is cut off. A single program pages only if the API server's own metrics are gone.\n\nFor jobs without the library, client-go's `rest_client_requests_total` decides: they are connected while requests succeed, and cut off if all requests have failed for two minutes.\n\nTwo rules with severity `@info` fire earlier: they send no notification, and mute the alerts that follow from the outage.",
		Impact:  "Nothing in this cluster is reconciled, and no Pod is scheduled or replaced. Running containers and Services continue to work.",
		Commands: []Step{
			{"Connect without credentials. `refused`: no API server. Timeout: the network, or a frozen API server. A TLS error: certificates.", `curl -kv --max-time 5 "$(kubectl config view --minify -o jsonpath='{.clusters[*].cluster.server}')/livez"`},
			readyz.because("Check the health of the API server. `etcd` and `etcd-readiness` report on etcd."),
			{"If one of several API servers responds, read their logs.", `kubectl -n kube-system logs -l component=kube-apiserver --prefix --tail=50`},
		},
		Queries: []Step{
			{"Errors. `refused`: no connection (no API server at the address, DNS, or no route). `timeout`: network, load balancer, frozen API server. `server`: etcd, or an API server that is starting. `throttled`: overload.", `sum by (error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+inThisCluster+`}`, "5m") + `) > 0`},
			{"Processes that are still connected. If the disconnected ones run on other nodes, check the network of these nodes.", `max by (@namespace, @pod, name) (k8s_informer_watch_connected{@, ` + inThisCluster + `}) == 1`},
		},
		Causes: []string{
			"API server, load balancer or etcd down: restore it. Programs reconnect within a minute; do not restart them, because each restart adds full lists.",
			"Overload: find the client with the most requests (`apiserver_request_total`) and its flow schema, and stop it.",
			"An upgrade of a single API server takes minutes: announce it, and silence this alert for the cluster.",
		},
		Resolves: "when the programs were cut off for at most $for of the last $range, several minutes after the outage ends. The second query has a row for each process that has a watch again.",
		Escalate: apiServerTeam + "; on a managed cluster, the provider",
	},
}

// recordUnreachable is the share of a cluster's programs that cannot reach the API server; 0 while all can.
const recordUnreachable = "cluster:kubernetes_api:unreachable_ratio"

// The rules count programs, not processes: one program with many replicas in an isolated network is not an outage. A
// program is cut off if none of its processes has a watch, and attempts fail for a reason that is not its own: forbidden and missing
// resources are not outages. Where a load balancer accepts connections and closes them, client-go sees watches that end immediately
// instead of errors. Server errors may come from a webhook, and a rejected token may belong to one program: they count only while no
// program of the cluster has a watch.
//
// Programs of which all processes are down for Prometheus count as cut off if another program says that it is: metrics that authenticate by
// the API server fail together with it.
//
// Jobs without such a program count by their requests: otherwise, the exporter could be the only program that counts. A job is cut off if
// requests failed in two minutes and none succeeded: longer than client-go's backoff. It is connected if requests succeeded between the
// last two scrapes of a running process: that ends soon after an outage began, before ControllerLeaderMissing pages, and does not depend
// on the phase of scrapes. Other jobs do not count: they sent no requests, or the outage ended their processes. Nor do requests of API
// servers to themselves.
//
// A single program cannot know whether the API server or its own network is down, unless the API server's metrics are gone as well.
func apiUnreachableRecords(o catalog.Objective, c Config) []Rule {
	return []Rule{
		c.recording(o, recordCutOff, programsCutOff),
		c.recording(o, recordDown, programsDown),
		c.recording(o, recordPrograms, programsCounted),
		c.recording(o, recordUnreachable, `
(
  count by (@cluster) (`+recordCutOff+` or `+recordDown+`)
or
  0 * `+recordPrograms+`
)
/
(
  `+recordPrograms+` > 1
or
  `+recordPrograms+`
  and on (@cluster)
  (group by (@cluster) (last_over_time(apiserver_longrunning_requests{@}[10m])) unless on (@cluster) apiserver_longrunning_requests{@})
)
`),
	}
}

const (
	recordCutOff   = "program:kubernetes_api:cut_off"
	recordDown     = "program:kubernetes_api:down"
	recordPrograms = "cluster:kubernetes_api:programs"

	// noWatch excludes clusters in which a program has a watch.
	noWatch = ` unless on (@cluster) k8s_informer_watch_connected{@} == 1`

	programsDown = `
group by (@cluster, @namespace, @job, name) (last_over_time(k8s_informer_watch_connected{@}[10m]) and on (@cluster, @job, @instance) up{@} == 0)
` + stillDown + `
or
` + recordDown + ` and on (@cluster, @namespace, @job) up{@} == 0
` + stillDown + `
`

	// stillDown excludes programs with a running process, and all programs of a cluster in which none is cut off.
	stillDown = `unless on (@cluster, @namespace, @job, name)
k8s_informer_watch_connected{@}
and on (@cluster)
` + recordCutOff

	programsCounted = `
count by (@cluster) (
  group by (@cluster, @namespace, @job, name) (k8s_informer_watch_connected{@})
or
  ` + recordCutOff + `
or
  ` + recordDown + `
or
  group by (@cluster, @namespace, @job) (irate(rest_client_requests_total{@, code!~"5..|401|429|<error>"}[5m]) > 0 and rest_client_requests_total{@}` + notServers + `)
  unless on (@cluster, @namespace, @job)
  k8s_informer_watch_connected{@}
)
`
)

var programsCutOff = `
group by (@cluster, @namespace, @job, name) (
  max by (@cluster, @namespace, @job, name) (k8s_informer_watch_connected{@}) == 0
  and
  (
    sum by (@cluster, @namespace, @job, name) (` + occurred(`k8s_informer_sync_errors_total{@, error_type=~"refused|timeout|throttled"}`) + `) > 0
  or
    sum by (@cluster, @namespace, @job, name) (` + occurred(`k8s_informer_watch_disconnects_total{@, reason=~"server_close|very_short|refused|throttled"}`) + `) > 0
  or
    sum by (@cluster, @namespace, @job, name) (` + occurred(`k8s_informer_sync_errors_total{@, error_type=~"server|unauthorized"}`) + `) > 0` + noWatch + `
  )
or
  (
    sum by (@cluster, @namespace, @job) ((` + prom.Occurred(`rest_client_requests_total{@, code=~"401|429|<error>"}`, "2m") + `)` + notServers + `) > 0
  or
    sum by (@cluster, @namespace, @job) ((` + prom.Occurred(`rest_client_requests_total{@, code=~"5..", method="GET"}`, "2m") + `)` + notServers + `) > 0` + noWatch + `
  )
  unless
  sum by (@cluster, @namespace, @job) ((` + prom.Occurred(`rest_client_requests_total{@, code!~"5..|401|429|<error>"}`, "2m") + `)` + notServers + `) > 0
  unless on (@cluster, @namespace, @job)
  k8s_informer_watch_connected{@}
)
`

const (
	// outageShare is the window of the page, as a multiple of its wait. An API server that is unreachable for a third of the window
	// is down, even if it recovers in between.
	outageShare = 3
	// outageStarts is the part of the page's wait after which an outage mutes other alerts: 30 s of 3 m. Locks are lost within seconds.
	outageStarts = 6
	// outageEnds is how long tickets stay muted after the end of an outage or of its page, as a multiple of the page's wait:
	// 18 m, for windows of 15 m and an attempt of client-go within 1 m.
	outageEnds = 6
	// leaderReturns is how long a lock has no leader after an outage: client-go's lease duration of 15 s, a retry, and a start.
	leaderReturns = 30 * time.Second
)

// MutesLabel is the label of rules that send no notification and mute others. Its value is the severity that they mute, which is also
// the name of its receiver.
const MutesLabel = "mutes"

// apiUnreachableRules returns the page, and two rules that only mute other alerts. Tickets are muted until their windows no
// longer contain the outage. Pages are muted until candidates have had time to acquire their locks: a lock that has no leader
// after that is a separate fault.
//
// The page adds up the time without the API server, so that repeated interruptions page. Interruptions that do not page must not
// mute other alerts forever: only the first of several does.
func apiUnreachableRules(a Alert, o catalog.Objective, c Config) []Rule {
	within := c.outageRange(o)
	down := catalog.FormatNumber(c.Targets.ScrapeInterval().Seconds()) + " * " + c.unreachable(within, 0) + " > " + catalog.FormatNumber(o.For.Seconds())
	page := a
	page.expr = strings.ReplaceAll(a.expr, "$unreachable", down)
	rule := page.rule(o, c)
	rule.For, rule.KeepFiringFor = catalog.FormatDuration(0), "" // the range of the expression replaces both

	mute := func(severity catalog.Severity, recovery time.Duration) Rule {
		b := a
		b.expr = recordUnreachable + " > $threshold\nunless\n" + c.unreachable(c.Targets.Window(recovery), o.For) + " > 0\nor\n" + down
		b.description = "Mutes alerts that follow from the outage" + inCluster + "."
		r := b.rule(o, c)
		r.For = catalog.FormatDuration(max(o.For/outageStarts, c.Targets.ScrapeInterval()))
		r.KeepFiringFor = catalog.FormatDuration(recovery)
		r.Labels = map[string]string{c.series().SeverityLabel(): c.Severity(catalog.Info), MutesLabel: string(severity)}
		return r
	}
	settled := leaderReturns + 2*c.Targets.ScrapeInterval() + cmp.Or(c.KeepFiringFor, c.lostScrapes())
	return []Rule{mute(catalog.Ticket, outageEnds*o.For), mute(catalog.Page, settled), rule}
}

// outageRange returns the window of the page.
func (c Config) outageRange(o catalog.Objective) time.Duration {
	return c.Targets.Window(outageShare * o.For)
}

// unreachable returns an expression for the number of scrape intervals in which the API server was unreachable, over a range
// that ended the given time ago.
func (c Config) unreachable(within, ago time.Duration) string {
	offset := ""
	if ago > 0 {
		offset = " offset " + catalog.FormatDuration(ago)
	}
	return "sum_over_time((" + recordUnreachable + " > bool $threshold)[" + catalog.FormatDuration(within) + ":" + catalog.FormatDuration(c.Targets.ScrapeInterval()) + "]" + offset + ")"
}

// followFromOutage are the alerts that an unreachable API server causes.
func followFromOutage() []Alert {
	return []Alert{
		informerNotSynced, informerSyncSlow, informerListWatchErrors, informerWatchDown, informerWatchDisconnects, informerCoverageGap,
		informerSyncLagHigh, informerEventLagBurn, informerAuditsFail, informerExporterKindDown, informerExporterLeaderMissing,
		controllerQueueBlocked, controllerQueueSlow, controllerQueueDeep, controllerWorkerBusy, controllerItemFailing, controllerItemsDropped,
		controllerReconcileErrors, controllerCleanupSlow, controllerCleanupOverdue, controllerLeaderMissing, controllerLeaderChanges, controllerLeaderSlowRenewals,
		clusterLeaseExpired, clusterLeaseChanges, clusterGenerationLag, controllerClientErrors, controllerClientThrottled,
	}
}
