package alerts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// Alert is an alerting rule with its texts, which may contain the placeholders of fill.
type Alert struct {
	// Name is the name of the alert and of its runbook.
	Name string
	// Objective is the objective that the program misses when the alert fires, as in the catalog.
	Objective catalog.Objective
	// Reason says why the alert has the severity of its objective, and not a higher or lower one. It is in the table of alerts.
	Reason string
	// Runbook describes the meaning, impact, diagnosis and mitigation of the alert.
	Runbook Runbook

	// expr is PromQL with the placeholders of fill and of the package prom.
	expr string
	// keep is how long the alert keeps firing after its expression was last true. 0 means the default of keepFiring.
	keep time.Duration
	// gauge reports whether the expression compares a gauge directly, although the objective has a window.
	gauge bool
	// summary and description are Prometheus templates. The description contains the value and the objective.
	summary, description string
	// board is the dashboard that the alert links to.
	board board
	// labels are the labels of the result that set the dashboard variables of the same name. "controller=name" sets the
	// variable controller from the label name. No dashboard has a variable for the namespace of the target, "@namespace".
	labels []string
	// namespaceFrom is the label from which the result takes its namespace: lock or lease_namespace. "" if it has the namespace
	// of the target, or of the object.
	namespaceFrom string
	// optIn reports whether only controllers with a threshold of their own have the alert.
	optIn bool
	// record returns the recording rules that the expression reads.
	record func(o catalog.Objective, c Config) []Rule
	// long returns recording rules that are evaluated once per tile.
	long func(o catalog.Objective, c Config) []Rule
	// expand returns the rules if the alert needs more than one.
	expand func(a Alert, o catalog.Objective, c Config) []Rule
}

// Labels that the results of expressions carry.
var (
	ofProcess  = []string{"cluster", "@namespace", "job", "instance", "name", "informer_type", "watch_namespace"}
	ofInformer = []string{"cluster", "@namespace", "job", "name", "informer_type", "watch_namespace"}
	ofResource = []string{"cluster", "@namespace", "job", "name", "informer_type"}
	ofProgram  = []string{"cluster", "@namespace", "job", "name"}
	ofExporter = []string{"cluster", "job", "instance"}
	ofQueue    = []string{"cluster", "@namespace", "job", "instance", "name"} // name is the name of the queue
	ofLock     = []string{"cluster", "name", "lock"}
	ofLease    = []string{"cluster", "lease_namespace", "lease"}
	ofObject   = []string{"cluster", "informer_type", "namespace"}
)

// All returns every alert, in the order of the dashboards.
func All() []Alert {
	return []Alert{
		informerNotSynced, informerReadsBeforeSync, informerSyncSlow, informerListWatchErrors,
		apiUnreachable, informerWatchDown, informerWatchDisconnects, informerCoverageGap,
		informerSyncLagHigh, informerEventLagBurn,
		informerCacheDiffers, informerAuditsFail, informerAuditsMissing, informerCacheMutated,
		informerHandlerSlow, informerHandlerPanics, informerHandlersGrow, informerResyncPeriodsDiffer, informerEventsLost,
		informerVersionRegression, informerStaleAfterRestart, informerTransformReplaced, informerTransformDrops, informerTransformShared, informerForeignObjects, informerDuplicated, informerOrphaned,
		informerSeriesLimitReached, informerScrapeSlow,
		informerExporterKindDown, informerExporterConfigReloadFailed, informerExporterLeaderMissing, informerExporterMemoryHigh, informerExporterShardMissing, informerExporterAbsent,
		controllerQueueBlocked, controllerQueueSlow, controllerQueueDeep, controllerWorkerBusy, controllerWorkersMissing, controllerItemFailing, controllerItemsDropped, controllerHistogramsWithoutBuckets,
		controllerReconcileErrors, controllerReconcileSlow, controllerReconcilePanics, controllerCleanupSlow, controllerCleanupOverdue,
		controllerLeaderMissing, controllerLeaderChanges, controllerLeaderSlowRenewals,
		clusterLeaseExpired, clusterLeaseChanges,
		clusterObjectHeld, clusterNamespaceStuck, clusterGenerationLag,
		controllerClientErrors, controllerWriteConflicts, controllerClientThrottled,
		clusterWatchersTerminated, clusterWatchCacheInconsistent,
	}
}

// ByName returns the alert with the given name.
func ByName(name string) (Alert, bool) {
	all := All()
	i := slices.IndexFunc(all, func(a Alert) bool { return a.Name == name })
	if i < 0 {
		return Alert{}, false
	}
	return all[i], true
}

func names() []string {
	var list []string
	for _, a := range All() {
		list = append(list, a.Name)
	}
	return list
}

// rules returns the alert's rules for a valid configuration.
func (a Alert) rules(c Config) []Rule {
	if a.expand != nil {
		return c.label(a.annotate(a.expand(a, c.Targets.Of(a.Objective), c), c))
	}
	return c.label(a.annotate(a.controllerRules(c), c))
}

// rule returns one rule with its placeholders replaced.
func (a Alert) rule(o catalog.Objective, c Config) Rule {
	fill := func(text string) string { return c.fill(o, text) }
	annotations := map[string]string{SummaryAnnotation: fill(a.summary), DescriptionAnnotation: fill(a.description)}
	for name, address := range map[string]string{
		RunbookAnnotation:   RunbookURL(c, a.Name),
		DashboardAnnotation: dashboardURL(c.Dashboards.of(a.board), a.labels, c),
	} {
		if address != "" {
			annotations[name] = address
		}
	}
	return Rule{
		Alert:         a.Name,
		Expr:          fill(a.withNamespace()),
		For:           catalog.FormatDuration(o.For),
		KeepFiringFor: a.keepFiring(o, c),
		Labels:        map[string]string{c.series().SeverityLabel(): c.Severity(o.Severity)},
		Annotations:   annotations,
	}
}

// withNamespace returns the expression with the label namespace in its result, also for locks and Leases, so that alerts can be
// routed by it.
func (a Alert) withNamespace() string {
	expr := strings.TrimSpace(a.expr)
	call, arguments := "", ""
	switch a.namespaceFrom {
	case "":
		return expr
	case "lock": // namespace/name, unless the program chose another name
		call, arguments = "label_replace", `"$1", "lock", "(.+)/.+"`
	default:
		call, arguments = "label_join", `"", "`+a.namespaceFrom+`"`
	}
	return call + "(\n  " + strings.ReplaceAll(expr, "\n", "\n  ") + ",\n  \"@namespace\", " + arguments + "\n)"
}

// lostScrapes returns how long a gauge may be missing: one failed scrape, with a margin.
func (c Config) lostScrapes() time.Duration {
	return max(2*time.Minute, 2*c.Targets.ScrapeInterval())
}

// keepFiring returns keep_firing_for. A single failed scrape makes all series of its target stale: an alert that compares a
// gauge or the start of a process would resolve, and fire again only after its for. An increase in a window spans the failed
// scrape and does not need it.
func (a Alert) keepFiring(o catalog.Objective, c Config) string {
	switch {
	case a.keep > 0:
		return catalog.FormatDuration(a.keep)
	case a.gauge || prom.ReadsStart(a.expr) || o.Window == 0 && o.BurnRates == nil:
		return catalog.FormatDuration(cmp.Or(c.KeepFiringFor, c.lostScrapes()))
	}
	return ""
}

// RunbookURL returns the URL of an alert's runbook, "" if it is unknown.
func RunbookURL(c Config, name string) string {
	if c.RunbookBase == "" {
		return ""
	}
	return strings.TrimSuffix(c.RunbookBase, "/") + "/" + name + ".md"
}

// dashboardURL returns the URL of a dashboard with its variables set from the alert's labels, as a template; "" if it is unknown.
func dashboardURL(address string, labels []string, c Config) string {
	if address == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(address)
	b.WriteString("?from=now-3h&to=now")
	for _, l := range labels {
		if strings.HasPrefix(l, "@") {
			continue
		}
		variable, label, renamed := strings.Cut(l, "=")
		if !renamed {
			label = variable
		}
		b.WriteString(`{{ with $labels.` + c.name(label) + ` }}&var-` + variable + `={{ . | urlquery }}{{ end }}`)
	}
	return b.String()
}
