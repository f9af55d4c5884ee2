package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/dashboards"
)

// named is an expression and its origin.
type named struct {
	where, expr string
	// mayBeEmpty is set for expressions that are expected to return nothing here, such as those with absent or unless,
	// about a gauge that grows, about alerts that another one mutes, or that compare metrics by names which the series here do not share.
	mayBeEmpty bool
}

// expressions returns the expressions of all rules and, with every variable at All, of all panels.
func expressions(t *testing.T, renamed map[string]string) (list []named) {
	t.Helper()
	config := alerts.Config{Labels: renamed}
	for _, g := range alerts.Rules(config) {
		for _, r := range g.Rules {
			list = append(list, named{where: r.Alert + r.Record, expr: r.Expr})
		}
	}
	for _, d := range boards(t, dashboards.Config{Labels: renamed}) {
		for _, q := range d.Queries {
			list = append(list, named{where: d.UID + ": " + q.Panel, expr: q.Plain()})
		}
	}
	return evaluable(t, list)
}

// evaluable changes expressions so that comparisons keep every series, and matching is tested on all of them. The variables of
// runbooks select the cluster eu, and nothing else.
func evaluable(t *testing.T, list []named) []named {
	t.Helper()
	for i, e := range list {
		list[i].mayBeEmpty = strings.Contains(e.expr, "unless") || strings.Contains(e.expr, "absent(") || strings.Contains(e.expr, "> min_over_time(") || e.where == "alert:informer_exporter_alerts:muted" ||
			regexp.MustCompile(`informer_store_resource_version|_stale_sync_skips_total|\bkube_`).MatchString(e.expr)
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(e.expr)
		if err != nil {
			t.Fatalf("%s: %v", e.where, err)
		}
		parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
			if b, ok := n.(*parser.BinaryExpr); ok && b.Op.IsComparisonOperator() {
				b.ReturnBool = true
			}
			if v, ok := n.(*parser.VectorSelector); ok {
				v.LabelMatchers = slices.DeleteFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return strings.HasPrefix(m.Value, "$") && m.Value != "$CLUSTER" })
			}
			return nil
		})
		list[i].expr = strings.ReplaceAll(parsed.String(), "$CLUSTER", "eu")
	}
	return list
}

func newEngine(t *testing.T) *promql.Engine {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, // as in Prometheus
		Parser:           parser.NewParser(parser.Options{}),
	})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// differences returns an error if two results differ by more than rounding.
func differences(got, want result) error {
	var errs []error
	for _, set := range slices.Sorted(maps.Keys(want)) {
		g, there := got[set]
		w := want[set]
		if !there {
			errs = append(errs, fmt.Errorf("%s is missing", set))
		} else if math.Abs(g-w) > 1e-9*math.Abs(w) || math.IsNaN(g) != math.IsNaN(w) {
			errs = append(errs, fmt.Errorf("%s is %v, not %v", set, g, w))
		}
	}
	for set := range got {
		if _, there := want[set]; !there {
			errs = append(errs, fmt.Errorf("%s is unexpected", set))
		}
	}
	return errors.Join(errs...)
}

// With two clusters in one Prometheus, every expression evaluates, has a result, and returns for each cluster the same as
// with that cluster alone.
func TestTwoClusters(t *testing.T) {
	engine := newEngine(t)
	eu, us := cluster(t, "eu", nil), cluster(t, "us", nil)
	world := both(eu, us)
	apart := 0
	for _, e := range expressions(t, nil) {
		got, sets, err := world.ask(t.Context(), engine, e.expr, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", e.where, err, e.expr)
			continue
		}
		if len(got) == 0 && !e.mayBeEmpty {
			t.Errorf("%s: no series\n%s", e.where, e.expr)
		}
		if len(sets) == 0 || strings.HasPrefix(e.expr, "topk") && !strings.HasPrefix(e.expr, allOfTop) {
			continue // of all clusters together
		}
		inEU, _, errEU := eu.ask(t.Context(), engine, e.expr, nil)
		inUS, _, errUS := us.ask(t.Context(), engine, e.expr, nil)
		if err := errors.Join(errEU, errUS); err != nil {
			t.Errorf("%s: %v\n%s", e.where, err, e.expr)
		}
		if sets[0].Get("cluster") == "" {
			if differences(got, together(inEU, inUS, math.Max)) != nil && differences(got, together(inEU, inUS, sum)) != nil {
				t.Errorf("%s: %v is neither the sum nor the greater one of %v and %v\n%s", e.where, got, inEU, inUS, e.expr)
			}
			continue
		}
		apart++
		maps.Copy(inEU, inUS)
		if err := differences(got, inEU); err != nil {
			t.Errorf("%s: two clusters together differ from each one alone: %v\n%s", e.where, err, e.expr)
		}
	}
	t.Logf("%d expressions distinguish clusters", apart)
	if apart < 100 {
		t.Errorf("only %d expressions distinguish clusters", apart)
	}
}

func sum(a, b float64) float64 { return a + b }

// together combines the results of two clusters.
func together(a, b result, of func(a, b float64) float64) result {
	r := maps.Clone(a)
	for set, value := range b {
		if first, there := r[set]; there {
			value = of(first, value)
		}
		r[set] = value
	}
	return r
}

// A dashboard with a selected cluster shows the same as with that cluster alone.
func TestOneOfTwoClusters(t *testing.T) {
	engine := newEngine(t)
	eu := cluster(t, "eu", nil)
	world := both(eu, cluster(t, "us", nil))
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			want, _, err := eu.ask(t.Context(), engine, q.Plain(), nil)
			if err != nil {
				t.Errorf("%s, %q: %v", d.UID, q.Panel, err)
			}
			q.Expr = strings.ReplaceAll(q.Expr, "$cluster", "eu")
			got, _, err := world.ask(t.Context(), engine, q.Plain(), nil)
			if err != nil {
				t.Errorf("%s, %q: %v", d.UID, q.Panel, err)
			}
			if err := differences(got, want); err != nil {
				t.Errorf("%s, %q: with another cluster: %v\n%s", d.UID, q.Panel, err, q.Expr)
			}
		}
	}
}

// A runbook query returns the same for the alert's cluster as it does with only that cluster.
func TestRunbookQueriesAreOfOneCluster(t *testing.T) {
	engine := newEngine(t)
	eu := cluster(t, "eu", nil)
	world := both(eu, cluster(t, "us", nil))
	var queries []named
	for _, a := range alerts.All() {
		for _, expr := range runbookQueries(a, alerts.Config{}) {
			queries = append(queries, named{where: a.Name, expr: expr})
		}
	}
	for _, e := range evaluable(t, queries) {
		want, _, err := eu.ask(t.Context(), engine, e.expr, nil)
		if err != nil || len(want) == 0 && !e.mayBeEmpty {
			t.Errorf("%s: %v, %d series\n%s", e.where, err, len(want), e.expr)
			continue
		}
		got, _, err := world.ask(t.Context(), engine, e.expr, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", e.where, err, e.expr)
		}
		if err := differences(got, want); err != nil {
			t.Errorf("%s: with another cluster: %v\n%s", e.where, err, e.expr)
		}
	}
}

// Without the label cluster, expressions return the same as with a single cluster.
func TestNoCluster(t *testing.T) {
	without := func(b *labels.Builder) { b.Del("cluster") }
	compareWorlds(t, cluster(t, "eu", without), nil, without, without)
}

// The labels namespace and pod of the target, which a ServiceMonitor or PodMonitor adds, do not affect any expression. Only
// metrics about objects, which are scraped with honor_labels, have their own label namespace.
func TestNamespaceOfTheTarget(t *testing.T) {
	added := func(b *labels.Builder) {
		record, _, recorded := strings.Cut(b.Get(metricName), ":")
		if ofTargets := !recorded || record != "cluster" && record != "lease"; ofTargets && b.Get("namespace") == "" {
			b.Set("namespace", "of-the-target")
		}
		if b.Get("instance") != "" { // sums over processes have no Pod
			b.Set("pod", "of-the-target")
		}
	}
	removed := func(b *labels.Builder) {
		if b.Get("namespace") == "of-the-target" {
			b.Del("namespace")
		}
		b.Del("pod")
	}
	compareWorlds(t, cluster(t, "eu", added), nil, removed, nil)
}

// compareWorlds compares the results of the expressions generated for other labels, on a cluster with these labels, with
// those of the default expressions on the same cluster with the usual labels. The functions map the labels of the results to
// each other.
func compareWorlds(t *testing.T, world database, renamed map[string]string, relabel, relabelUsual func(*labels.Builder)) {
	t.Helper()
	engine := newEngine(t)
	usual := cluster(t, "eu", nil)
	list := expressions(t, renamed)
	wanted := map[string][]named{}
	for _, e := range expressions(t, nil) {
		wanted[e.where] = append(wanted[e.where], e)
	}
	for _, e := range list {
		same := wanted[e.where][0]
		wanted[e.where] = wanted[e.where][1:]
		want, _, err := usual.ask(t.Context(), engine, same.expr, relabelUsual)
		if err != nil {
			t.Errorf("%s: %v\n%s", same.where, err, same.expr)
		}
		got, _, err := world.ask(t.Context(), engine, e.expr, relabel)
		if err != nil {
			t.Errorf("%s: %v\n%s", e.where, err, e.expr)
		}
		if err := differences(got, want); err != nil {
			t.Errorf("%s: with other labels: %v\n%s", e.where, err, e.expr)
		}
	}
}

// longValues replace the short values of labels in legends. Most differ only at their end, as the Pods of a Deployment do.
var longValues = map[string]*strings.Replacer{
	"group":         strings.NewReplacer("a", "admissionregistration.k8s.io", "b", "flowcontrol.apiserver.k8s.io"),
	"resource":      strings.NewReplacer("a", "validatingadmissionpolicies", "b", "validatingadmissionpolicybindings"),
	"informer_type": strings.NewReplacer("pods", "validatingadmissionpolicybindings.admissionregistration.k8s.io", "namespaces", "mutatingadmissionpolicybindings.admissionregistration.k8s.io"),
	"finalizer":     strings.NewReplacer("a", "cleanup.networking.example.com/records", "b", "cleanup.networking.example.com/load-balancer"),
	"name":          strings.NewReplacer("shop", "payments-production-shop", "informer-exporter", "payments-production-informer-exporter"),
	"job":           strings.NewReplacer("shop", "payments-production/shop", "informer-exporter", "payments-production/informer-exporter"),
	"instance":      strings.NewReplacer("a", "shop-controller-7d9f8b6c5d-x2k4q:8080", "b", "shop-controller-7d9f8b6c5d-p9w7z:8080"),
	"lease":         strings.NewReplacer("shop", "payments-production-shop-leader", "kube-controller-manager", "payments-production-shop-migration"),
	"controller":    strings.NewReplacer("a", "persistentvolume-attach-detach", "b", "persistentvolume-expander"),
}

var labelInLegend = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)

// longestWord is the length, in characters, of the longest word in a legend that leaves room for its values.
const longestWord = 24

// A long name in a legend keeps its distinguishing part: the resource of a type, or the end of any other name.
func TestLongNamesInLegends(t *testing.T) {
	for _, d := range boards(t, dashboards.Config{}) {
		for _, p := range d.drawn() {
			if p.Type != "timeseries" && p.Type != "state-timeline" || !slices.ContainsFunc(p.Targets, func(q targetModel) bool { return strings.Contains(q.Legend, "{{") }) {
				continue
			}
			for name, want := range map[string]string{
				"informer-exporter":                                            "informer-exporter",
				"10.244.112.131:8080 *":                                        "10.244.112.131:8080 *",
				"* events.events.k8s.io shop":                                  "events.events.k8s.io shop",
				"shop-controller-7d9f8b6c5d-x2k4q:8080":                        "shop…9f8b6c5d-x2k4q:8080",
				"endpointslices.discovery.k8s.io":                              "endpointslices.dis…",
				"roles.rbac.authorization.k8s.io shop":                         "roles.rbac.auth… shop",
				"mutatingadmissionpolicybindings.admissionregistration.k8s.io": "muta…policybindings.adm…",
			} {
				if got := p.shown(name); got != want {
					t.Errorf("%s, %q: %q becomes %q, want %q", d.UID, p.Title, name, got, want)
				}
			}
		}
	}
}

// With one of two clusters chosen, each line of a graph has a unique legend, as Grafana shows it, and each label of a row has
// a column with a heading.
func TestLegendsTellSeriesApart(t *testing.T) {
	engine := newEngine(t)
	world := both(cluster(t, "eu", nil), cluster(t, "us", nil))
	for _, d := range boards(t, dashboards.Config{}) {
		for _, p := range d.drawn() {
			seen := map[string]labels.Labels{}
			for _, target := range p.Targets {
				_, sets, err := world.ask(t.Context(), engine, d.chosen("eu", target.Expr), nil)
				if err != nil {
					t.Errorf("%s, %q: %v", d.UID, p.Title, err)
				}
				for _, set := range sets {
					switch p.Type {
					case "timeseries", "state-timeline":
						legend := p.shown(labelInLegend.ReplaceAllStringFunc(target.Legend, func(l string) string {
							label := strings.Trim(l, "{}")
							if long := longValues[label]; long != nil {
								return long.Replace(set.Get(label))
							}
							return set.Get(label)
						}))
						for word := range strings.FieldsSeq(legend) {
							if n := utf8.RuneCountInString(word); n > longestWord {
								t.Errorf("%s, %q: %s has %d characters", d.UID, p.Title, word, n)
							}
						}
						if other, taken := seen[legend]; taken {
							t.Errorf("%s, %q: %s and %s have the same legend %q", d.UID, p.Title, other, set, legend)
						}
						seen[legend] = set
					case "table":
						set.Range(func(l labels.Label) {
							// The cluster that was chosen needs no column.
							if l.Name != "cluster" && p.Transformations[1].Options.RenameByName[l.Name] == "" {
								t.Errorf("%s, %q: the label %s has no column", d.UID, p.Title, l.Name)
							}
						})
					}
				}
			}
		}
	}
}
