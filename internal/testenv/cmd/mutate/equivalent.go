package main

// equivalents are changes that do not affect any behavior that a test should verify: the changed line, without indentation, and the
// reason.
var equivalents = []struct{ pkg, line, reason string }{
	{"internal/exporter/check", "w := tabwriter.NewWriter(stdout, 0, 1, 3, ' ', 0)", "cells are padded with spaces: the width of tabs has no effect"},
	{"internal/exporter/check", "_ = catalog.Objectives.NamespaceStuck", "both objectives have the same threshold"},
	{"internal/exporter/cost", "fullSeries, fullSeriesEach           = 120, 62", "a measured mean: TestSeriesOfTheExporter allows 5 %"},
	{"internal/exporter/informers", `return nil, fmt.Errorf("informer for %s: %w", err, t.Name())`, "the methods return an error only for an informer that was started"},
	{"internal/exporter/kinds", "func All() []Kind { return slices.Concat(optionalKinds, defaultKinds) }", "rules that are made of it are sorted"},
	{"internal/exporter/status", "const settledPoll = 101 * time.Millisecond", "the interval of checks has no effect on their result"},
	{"internal/exporter/sharding", "owner, highest := 0, uint64(1)", "of two weights of 64 bits, none is 0 or 1"},
	{"internal/exporter/client", "case rule.most > 1 && p.Next() == '[':", "no rule keeps a single element"},
	{"internal/exporter/client", `"causes": {within: &members{most: 10, size: 65, named: map[string]member{"reason": {}, "message": {text: maxMessage}, "field": {}}}},`, "an estimate of memory"},
	{"internal/exporter/client", `"managedFields": {within: &members{most: maxManagers, size: 161, named: map[string]member{"time": {}, "subresource": {}}}},`, "an estimate of memory"},
	{"internal/exporter/client", "limit := debug.SetMemoryLimit(-2)", "every negative limit only returns the current one"},
	{"internal/exporter/client", `return nil, fmt.Errorf(config.Host, "client for %s: %w", err)`, "after the metadata client was created, the same configuration is valid for the other clients"},
	{"internal/exporter/web", `if !strings.EqualFold("gzip", strings.TrimSpace(name)) {`, "EqualFold is symmetric"},
	{"collectors/internal/ring", "if from := c.ring.oldest(); next <= from {", "at equality nothing was overwritten: n is 0, and next stays"},
	{"collectors/internal/stream", "c.lastTransform.Store(1)", "after a call of the Transform, the number of calls is never 1 again: no list ends there"},
	{"collectors/internal/checks", "case now+int64(wait) <= r.next: // the interval is shorter than those of the others", "at equality the timer already ends at this moment"},
	{"collectors/internal/checks", "if c.Lister == nil && c.Intervals.Freshness == 0 {", "without either there are no freshness checks, so none has failed or found a difference"},
	{"collectors/internal/ring", "_ = passed", "Push searches the cursors again with each event: slower, with the same result"},
	{"collectors/internal/series", "if len(value) >= maxLength {", "a valid value of exactly this length is not changed"},
	{"collectors/internal/errclass", "case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), errors.Is(context.DeadlineExceeded, err), isDialTimeout(err):", "a wrapped DeadlineExceeded is a net.Error that timed out, which isTimeout detects"},
	{"collectors/apiclient", "if s != nil && r.isOther(key.Group, key.Resource) {", "newAnswer finds the same series, with a lock"},
	{"collectors/apiclient", `if response.Body == nil || response.ContentLength == 0 || !strings.EqualFold(encodingGzip, response.Header.Get("Content-Encoding")) {`, "EqualFold is symmetric"},
	{"collectors/apiclient", `prefix = strings.TrimSuffix(path.Join(server.Path, "/"), "/") // as client-go prepends it to the path`, "the path of a URL with a host is empty or begins with a slash"},
	{"collectors/apiclient", "const noAnswer = 1", "no response has this status either"},
	{"collectors/apiclient", "case r.isOther(resource, group):", "a name beyond the limits is also detected by the two cases below"},
	{"collectors/controllers", "if int64(maxWorkers) < known || r.maxWorkers.CompareAndSwap(known, int64(maxWorkers)) {", "at equality the same value is stored again"},
	{"collectors/informer", "informers.WithTransform(f.options.Transform), informers.WithTweakListOptions(f.options.TweakListOptions),", "each option sets a field of its own"},
	{"collectors/informer", "h.metrics.updates.changedVersion(newObj, oldObj)", "whether two generations are equal, and not 0, does not depend on their order"},
	{"collectors/informer", "if handled := h.handled.Load(); i == 0 || handled <= s.Handled {", "at equality the same value is stored again"},
	{"collectors/informer", "if oldest == 0 || at <= oldest {", "at equality the same value is stored again"},
	{"alerts", `max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (increase(k8s_informer_audits_total{@, result="error"}[30m])) > 0`, "an increase is never negative: one is above 0 if and only if their sum is"},
	{"alerts", "{\"Duration by process.\", `histogram_quantile(0.99, sum by (@le, @pod) (increase(k8s_informer_handler_duration_seconds@bucket{@, ` + ofThisProgram + ofThisInformer + `, handler=\"$HANDLER\"}[5m])))`},", "a quantile is the same of rates and of increases"},
	{"alerts", "max by (@cluster, @namespace, @job) (increase(rest_client_requests_total{@, code!~\"5..|429|<error>\"}[2m])` + notServers + `) > 0", "an increase is never negative: one is above 0 if and only if their sum is"},
	{"alerts", `sum by (@cluster, @namespace, @pod, @job, @instance, name, informer_type, watch_namespace) (rate(k8s_informer_audits_total{@, result=~"consistent|different"}[$window])) > 0`, "a rate is above 0 if and only if the increase is"},
	{"alerts", "Receivers:    slices.Concat(c.webhookReceivers(), []receiver{{Name: null}}, teamReceivers),", "routes name receivers: their order has no effect"},
	{"alerts", "for _, text := range slices.Concat([]string{r.Resolves}, r.Causes) {", "only the order of a runbook's variables depends on it: each is assigned independently"},
	{"dashboards", "queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name) (increase(k8s_client_throttle_wait_seconds@bucket{@program}[$__rate_interval])))`, legend: \"{{@cluster}} {{name}}\"}},", "a quantile is the same of rates and of increases"},
	{"dashboards", "query: `max(sum by (@job, @instance, name) (workqueue_depth{@queue}))`,", "the selector has one cluster"},
	{"dashboards", `_ = slices.DeleteFunc(slices.Clone(p.labels), func(c column) bool { return c.label == "cluster" })`, "the column is hidden as well; only its place is kept"},
	{"dashboards", "{title: \"Consecutive failures\", red: 3, query: `max by (` + informerLabels + `) (k8s_informer_consecutive_failures{@informer}) or 0 * min by (` + informerLabels + `) (k8s_informer_watch_connected{@informer})`},", "0 times any of the values is 0"},
	{"dashboards", `mappings := append(p.zeroText(), []sdk.ValueMapping{special(sdk.SpecialValueMatchNull, "No data", none)}...)`, "no value is both null and 0"},
}

// equivalence returns why a mutant is equivalent, or an empty string if it is not known to be.
func equivalence(pkg string, m mutant) string {
	_, after := m.lines()
	for _, e := range equivalents {
		if e.pkg == pkg && e.line == after {
			return e.reason
		}
	}
	return ""
}
