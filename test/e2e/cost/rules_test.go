package cost_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// maxPerInformer is the budget: the samples that one evaluation of every rule may read for each informer.
const maxPerInformer = 6000

// informersOf is the number of informers of a cluster: those of the program and of the exporter, of each replica.
const informersOf = 2 * 2 * 10

type ruleCost struct {
	group, name string
	cost
}

// TestRules evaluates every rule once for 300 clusters, with Prometheus' rule manager, and prints the samples that it reads.
func TestRules(t *testing.T) {
	groups := alerts.Rules(alerts.Config{})
	f := withRecorded(t, newFleet(clusters, shapesOfACluster(t)), groups)
	begin := time.Now()
	list := evaluate(t, f, groups)
	took := time.Since(begin)

	var all cost
	perMinute := 0.
	byGroup := map[string]time.Duration{}
	for _, g := range groups {
		byGroup[g.Name] = intervalOf(t, g)
	}
	for _, r := range list {
		all.add(r.cost)
		perMinute += float64(r.samples) * float64(time.Minute) / float64(byGroup[r.group])
	}
	informers := int64(clusters * informersOf)
	var b strings.Builder
	fmt.Fprintf(&b, "%d rules, %d series that rules read, %d informers: %d samples in one evaluation of every rule (%d per informer), %.0f in a minute (%.0f per informer), at most %d in memory, in %v\n",
		len(list), f.count(readByRules(t, groups)), informers, all.samples, all.samples/informers, perMinute, perMinute/float64(informers), all.peak, took.Round(time.Second))
	sortBySamples(list, func(r ruleCost) int64 { return r.samples })
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "samples\tin memory\t  every\t  rule\t")
	for _, r := range list[:10] {
		fmt.Fprintf(w, "%d\t%d\t%v\t  %s\t\n", r.samples, r.peak, byGroup[r.group], r.name)
	}
	_ = w.Flush()
	t.Log("\n" + b.String())
	document(t, "rules", fmt.Sprintf("One evaluation of all %d rules for %d informers reads %d samples: %d per informer, and %.0f per informer and minute. The\nlargest query has %d samples in memory.",
		len(list), informers, all.samples, all.samples/informers, perMinute/float64(informers), all.peak))
	if got := all.samples / informers; got > maxPerInformer {
		t.Errorf("rules read %d samples per informer in one evaluation, more than %d", got, maxPerInformer)
	}
}

// readByRules returns a function that reports whether a rule reads the metric with a name.
func readByRules(t *testing.T, groups []alerts.Group) func(string) bool {
	t.Helper()
	names := map[string]bool{}
	p := parser.NewParser(parser.Options{})
	for _, g := range groups {
		for _, r := range g.Rules {
			expr, err := p.ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if v, ok := n.(*parser.VectorSelector); ok {
					names[v.Name] = true
				}
				return nil
			})
		}
	}
	return func(name string) bool { return names[name] }
}

// evaluate evaluates every rule once.
func evaluate(t *testing.T, f *fleet, groups []alerts.Group) []ruleCost {
	t.Helper()
	raw, err := alerts.RuleFile(alerts.Config{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	manager := rules.NewManager(&rules.ManagerOptions{
		Context: t.Context(), Queryable: f, Logger: promslog.NewNopLogger(), Parser: parser.NewParser(parser.Options{}),
	})
	loaded, errs := manager.LoadGroups(evaluationInterval, labels.EmptyLabels(), "", nil, false, file)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	engine := newEngine()
	var list []ruleCost
	for _, g := range groups {
		for _, rule := range loaded[rules.GroupKey(file, g.Name)].Rules() {
			one := ruleCost{group: g.Name, name: rule.Name()}
			_, err := rule.Eval(t.Context(), 0, now, func(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
				q, err := engine.NewInstantQuery(ctx, f, nil, expr, at)
				if err != nil {
					return nil, err
				}
				defer q.Close()
				c, result := run(ctx, q)
				one.add(c)
				v, err := result.Vector()
				return slices.Clone(v), err
			}, &url.URL{}, 0)
			if err != nil {
				t.Errorf("%s: %v", rule.Name(), err)
			}
			list = append(list, one)
		}
	}
	return list
}
