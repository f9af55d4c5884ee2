package dashboards

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// variable is a template variable that selects by a label.
type variable struct {
	name, title string
	// series selects the series with the values of the label.
	series string
	// label defaults to the name.
	label string
	// single allows one value, and no All. Without any value, as for the cluster in a Prometheus without this label, Grafana
	// sets the empty string, which selects the series without the label.
	single bool
	// all is the regular expression for All. It defaults to any value.
	all string
	// hidden hides the variable: only a link uses its values.
	hidden bool
}

const (
	targetMatchers   = `@cluster="$cluster", @job=~"$job", @instance=~"$instance"`
	programMatchers  = targetMatchers + `, name=~"$name"`
	informerMatchers = programMatchers + `, informer_type=~"$informer_type", watch_namespace=~"$watch_namespace"`
)

// selectors replaces placeholders with selectors that use the variables:
//
//	{@target}      process; {@process} in prom.Occurred
//	{@program}     program, also for client-go's informer metrics
//	{@informer}    informer
//	{@controller}  controller
//	{@queue}       queue of a controller in client-go's metrics
//	{@lock}        lock of a leader election
//	{@lease}       Lease
//	{@object}      resource and namespace of objects
//	{@server}      API server
//	{@audited}     client in the audit log
//	{@watched}     what a client in the audit log watches
//
// prom.Series.Expand selects programs and locks without the library by {@upstreamProgram} and {@upstreamLock}.
var selectors = strings.NewReplacer(
	"{@target", "{@, "+targetMatchers,
	"{@process", "{@, "+targetMatchers,
	"{@program", "{@, "+programMatchers,
	"{@informer", "{@, "+informerMatchers,
	"{@controller", "{@, "+targetMatchers+`, controller=~"$controller"`,
	"{@queue", "{@, "+targetMatchers+`, name=~"$controller"`,
	"{@lock", "{@, "+targetMatchers+`, lock=~"$lock"`,
	"{@lease", "{@, "+targetMatchers+`, lease_namespace=~"$lease_namespace", lease=~"$lease"`,
	"{@upstreamProgram", "{@, "+targetMatchers+`, @job=~"$name"`,
	"{@upstreamLock", "{@, "+targetMatchers+`, name=~"$lock"`,
	"{@audited", "{@, "+targetMatchers+`, client=~"$client"`,
	"{@watched", "{@, "+targetMatchers+`, client=~"$client", informer_type=~"$informer_type"`,
	"{@server", `{@, @cluster="$cluster"`,
	"{@object", "{@, "+targetMatchers+`, informer_type=~"$informer_type", namespace=~"$namespace"`,
)

// filler replaces the placeholders of queries and legends: selectors, names of labels, and the window of the objective with an id, as
// in [@id], offset @id and @id_seconds.
type filler struct {
	series  prom.Series
	targets catalog.Targets
	windows *strings.Replacer
	// traces is the URL that panels with exemplars link to, empty for no link.
	traces string
	// interval is the shortest step of queries, empty for the data source's.
	interval string
}

func newFiller(c Config) filler {
	var pairs []string
	for _, o := range c.Targets.All() {
		if o.Window > 0 {
			window := catalog.FormatDuration(o.Window)
			pairs = append(pairs, "[@"+o.ID+"]", "["+window+"]", "offset @"+o.ID, "offset "+window, "@"+o.ID+"_seconds", catalog.FormatNumber(o.Window.Seconds()))
		}
	}
	f := filler{series: c.series(), targets: c.Targets, windows: strings.NewReplacer(pairs...), traces: c.TracesURL}
	if c.MinInterval > 0 {
		f.interval = catalog.FormatDuration(c.MinInterval)
	}
	return f
}

func (f filler) fill(text string) string { return f.series.Fill(selectors.Replace(text)) }

// goal returns the objective in effect.
func (f filler) goal(o *catalog.Objective) *catalog.Objective {
	if o == nil {
		return nil
	}
	return new(f.targets.Of(*o))
}

// query fills a query, and adds programs without the library.
func (f filler) query(expr string) string { return f.fill(f.series.Expand(f.windows.Replace(expr))) }

func (v variable) build(f filler) cog.Builder[sdk.VariableModel] {
	q := fmt.Sprintf("label_values(%s, %s)", f.fill(v.series), f.series.Label(cmp.Or(v.label, v.name)))
	b := sdk.NewQueryVariableBuilder(v.name).
		Label(v.title).Datasource(dataSource()).
		Query(sdk.StringOrMap{Map: map[string]any{"qryType": 1, "query": q, "refId": "PrometheusVariableQueryEditor-VariableQuery"}}).
		Definition(q).
		Refresh(sdk.VariableRefreshOnTimeRangeChanged).Sort(sdk.VariableSortAlphabeticalAsc)
	if v.single {
		return b
	}
	if v.hidden { // without a regular expression, All is the list of all values
		b.Hide(sdk.VariableHideHideVariable)
	} else {
		b.AllValue(cmp.Or(v.all, ".+"))
	}
	return b.Multi(true).IncludeAll(true).
		Current(sdk.VariableOption{
			Selected: cog.ToPtr(true),
			Text:     sdk.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value:    sdk.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
		})
}

// logVariables returns hidden variables with the Namespaces and Pods of the selected processes, by the labels that
// ServiceMonitors and PodMonitors add.
func (p page) logVariables() []variable {
	i := slices.IndexFunc(p.variables, func(v variable) bool { return v.name == "instance" })
	if i < 0 {
		return nil
	}
	series := strings.TrimSuffix(p.variables[i].series, "}") + `, @instance=~"$instance"}`
	return []variable{
		{name: "target_namespace", title: "Namespace of the Pods", label: "namespace", series: series, hidden: true},
		{name: "target_pod", title: "Pods", label: "pod", series: series, hidden: true},
	}
}

// logsURL fills in the Namespaces and Pods of the selected processes.
func logsURL(template string) string {
	return strings.NewReplacer("$namespace", "${target_namespace:regex}", "$pod", "${target_pod:regex}").Replace(template)
}
