package prom

import (
	"regexp"
	"slices"
	"strings"
)

// Programs without the library report the metrics of controller-runtime and of client-go instead. Queries name only the
// library's metric; Series.Expand adds the other one.

// substitute is the metric that stands in for one of the library's.
type substitute struct {
	own string
	// metric is the upstream metric, of the same type.
	metric string
	// on are the labels, besides those of the target, that both metrics have.
	on []string
	// labels sets the labels that upstream names differently or lacks, except the label "name", which all substitutes get.
	labels func(expr string) string
	// matchers translates the matchers of the library's labels, and reports whether the upstream series exist.
	matchers func([]string) ([]string, bool)
}

var substitutes = []substitute{
	{own: "controller_reconcile_total", metric: "controller_runtime_reconcile_total", on: []string{"controller"}},
	{own: "controller_reconcile_duration_seconds", metric: "controller_runtime_reconcile_time_seconds", on: []string{"controller"}},
	{own: "controller_active_workers", metric: "controller_runtime_active_workers", on: []string{"controller"}},
	{own: "controller_max_workers", metric: "controller_runtime_max_concurrent_reconciles", on: []string{"controller"}},
	{
		own: "controller_dropped_total", metric: "controller_runtime_terminal_reconcile_errors_total", on: []string{"controller"},
		labels:   func(expr string) string { return set(without(expr, "reason"), "reason", "terminal") },
		matchers: func(list []string) ([]string, bool) { return list, !has(list, "reason") },
	},
	{
		own: "k8s_client_requests_total", metric: "rest_client_requests_total",
		labels: func(expr string) string {
			return `label_replace(` + rename(without(expr, "verb"), "verb", "method") + `, "code", "error", "code", "<error>")`
		},
		matchers: func(list []string) ([]string, bool) {
			return append(withMethods(list), `code!="error"`), !has(list, "resource")
		},
	},
	{own: "k8s_client_request_duration_seconds", metric: "rest_client_request_duration_seconds"},
	{own: "k8s_client_throttle_wait_seconds", metric: "rest_client_rate_limiter_duration_seconds"},
	{
		own: "k8s_client_conflicts_total", metric: "rest_client_requests_total",
		matchers: func(list []string) ([]string, bool) {
			list = slices.DeleteFunc(list, func(m string) bool { return m == `subresource!="status"` })
			return append(list, `code="409"`, `method!="POST"`), !has(list, "subresource")
		},
	},
	{own: "controller_leader", metric: "leader_election_master_status", labels: lockLabels},
}

// panics are counted separately by controller-runtime.
var panics = substitute{
	own: "controller_reconcile_total", metric: "controller_runtime_reconcile_panics_total", on: []string{"controller"},
	labels: func(expr string) string { return set(without(expr, "result"), "result", "panic") },
	matchers: func(list []string) ([]string, bool) {
		return slices.DeleteFunc(list, func(m string) bool { return m == onlyPanics }), true
	},
}

const (
	onlyPanics   = `result="panic"`
	onlyWrites   = `verb=~"update|patch"`
	onlyAcquired = `event="acquired"`
	transitions  = "controller_leader_transitions_total"
	// Matchers by which runbooks select the program of an alert.
	theProgram = `name="$NAME"`
	theJob     = `@job="$NAME"`
)

// reads finds a counter or a histogram inside rate, increase or irate, and a gauge or the value of a counter, now or at an offset.
var reads = regexp.MustCompile(`(?:(rate|increase|irate)\()?\b([a-z0-9_]+)\{(@[^{}]*)\}(?:\[([^\]]+)\]\))?( offset [$a-z0-9_]+)?`)

// WithUpstream adds the metric of programs without the library to each of the library's metrics in a query. A process, or a
// controller of a process, that reports both counts once. Added series have their job as the label "name". A selector with a
// matcher for name, other than that of runbooks, selects programs with the library and stays unchanged.
func WithUpstream(query string) string {
	var b strings.Builder
	end := 0
	for _, at := range reads.FindAllStringSubmatchIndex(query, -1) {
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return query[at[2*i]:at[2*i+1]]
		}
		added := addition(group(1), group(2), group(3), group(4), group(5))
		if added == "" {
			continue
		}
		b.WriteString(query[end:at[0]])
		end = at[1]
		whole := group(0) + added
		enclosed := strings.HasSuffix(query[:at[0]], "(") && strings.HasPrefix(query[at[1]:], ")")
		if !enclosed && at[1]-at[0] != len(query) {
			whole = "(" + whole + ")"
		}
		b.WriteString(whole)
	}
	return b.String() + query[end:]
}

// addition returns what WithUpstream adds to a function of a metric, and "" if it adds nothing.
func addition(function, metric, selector, window, offset string) string {
	matchers := split(selector)
	if at := slices.Index(matchers, theProgram); at > 0 {
		matchers[at] = theJob
	}
	if has(matchers, "name") || (function == "") != (window == "") {
		return ""
	}
	if metric == transitions && function == "increase" {
		return either(nil, elections(matchers, window))
	}
	if metric == panics.own && slices.Contains(matchers, onlyPanics) {
		return panics.addition(function, "", matchers, window, offset)
	}
	for _, s := range substitutes {
		for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
			if metric == s.own+suffix {
				return s.addition(function, suffix, matchers, window, offset)
			}
		}
	}
	return ""
}

func (s substitute) addition(function, suffix string, matchers []string, window, offset string) string {
	if s.matchers != nil {
		var exists bool
		if matchers, exists = s.matchers(matchers); !exists {
			return ""
		}
	}
	expr := s.metric + suffix + braces(matchers)
	if function != "" {
		expr = function + "(" + expr + "[" + window + "])"
	}
	expr += offset
	if s.labels != nil {
		expr = s.labels(expr)
	}
	return either(s.on, rename(without(expr, "name"), "name", "@job"))
}

// elections counts the changes of client-go's gauge: half of them are acquisitions, including the last one if the gauge is 1.
func elections(matchers []string, window string) string {
	acquiredOnly := slices.Contains(matchers, onlyAcquired)
	gauge := "leader_election_master_status" + braces(slices.DeleteFunc(matchers, func(m string) bool { return m == onlyAcquired })) + "[" + window + "]"
	expr := "floor((changes(" + gauge + ") + last_over_time(" + gauge + ")) / 2)"
	if !acquiredOnly {
		acquired := without(expr, "event")
		expr = set(acquired, "event", "acquired") + " or " + set(without("changes("+gauge+")", "event")+" - "+acquired, "event", "lost")
	}
	return rename(without(lockLabels(expr), "name"), "name", "@job")
}

// lockLabels names a lock by its Lease, and by the namespace of its program: client-go's metric lacks the namespace of the Lease. The
// label lock_namespace distinguishes elections of one name. The library's locks lack it: their names include a namespace.
func lockLabels(expr string) string {
	return rename(rename(without(expr, "lock, lock_namespace"), "lock", "name"), "lock_namespace", "@namespace")
}

// either returns the operator that adds an expression for processes without series on its left side.
func either(on []string, expr string) string {
	return " or on (" + strings.Join(append([]string{"@cluster", "@job", "@instance"}, on...), ", ") + ") " + expr
}

func rename(expr, label, from string) string {
	return `label_join(` + expr + `, "` + label + `", "", "` + from + `")`
}

// without adds up the series that differ only in labels that the query sets: a program may have labels of these names, and two series
// with the same labels would end the evaluation for all programs.
func without(expr, labels string) string { return "sum without (" + labels + ") (" + expr + ")" }

func set(expr, label, value string) string {
	return `label_replace(` + expr + `, "` + label + `", "` + value + `", "", "")`
}

// split returns the placeholder and the matchers of a selector.
func split(selector string) []string {
	placeholder, _, _ := strings.Cut(selector, ",")
	return append([]string{placeholder}, anyMatcher.FindAllString(selector[len(placeholder):], -1)...)
}

var anyMatcher = regexp.MustCompile(`@?` + matcher)

func has(matchers []string, label string) bool {
	return slices.ContainsFunc(matchers, func(m string) bool {
		return strings.HasPrefix(m, label+"=") || strings.HasPrefix(m, label+"!")
	})
}

// withMethods names verbs, and requests without a response, as client-go does.
func withMethods(matchers []string) []string {
	list := slices.Clone(matchers)
	for i, m := range list {
		if m == onlyWrites {
			list[i] = `method=~"PUT|PATCH"`
		}
		if has([]string{m}, "code") {
			list[i] = strings.Replace(m, "error", "<error>", 1)
		}
	}
	return list
}

// braces returns a selector. It replaces the placeholders of a program and of a lock with those for the labels of upstream.
func braces(matchers []string) string {
	list := slices.Clone(matchers)
	switch list[0] {
	case "@program":
		list[0] = "@upstreamProgram"
	case "@lock":
		list[0] = "@upstreamLock"
	}
	return "{" + strings.Join(list, ", ") + "}"
}
