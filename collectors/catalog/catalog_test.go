package catalog

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule is a rule for every metric. The first few are those of promlint
// (github.com/prometheus/client_golang/prometheus/testutil/promlint), which a leaf package cannot import.
type rule struct {
	name  string
	check func(Metric) error
}

var (
	metricName       = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	notes            = regexp.MustCompile("^[A-Z0-9`c][^\n]*\\.$")
	sentence         = regexp.MustCompile(`^[A-Zc][^\n]*\.$`) // c as in client-go
	badUnits         = []string{"milliseconds", "minutes", "hours", "kilobytes", "megabytes", "percent", "ms"}
	prefixes         = []string{"k8s_informer_", "controller_", "k8s_lease_", "k8s_object_", "k8s_client_", "k8s_audit_", "informer_exporter_"}
	upstreamPrefixes = []string{"informer_", "workqueue_", "leader_election_"}
	// forbiddenLabels have an unbounded number of values, such as names of objects.
	forbiddenLabels = []string{"pod", "object", "key", "uid", "object_name", "error", "message", "reflector"}
)

var rules = []rule{
	{"the name is in snake case", func(m Metric) error {
		if !metricName.MatchString(m.Name) {
			return fmt.Errorf("is called %q", m.Name)
		}
		return nil
	}},
	{"the name has a prefix of its family", func(m Metric) error {
		allowed := prefixes
		switch m.Family {
		case familyUpstream:
			allowed = upstreamPrefixes
		case familyForeign:
			allowed = []string{"controller_runtime_", "rest_client_", "kube_", "daemonset_", "horizontal_pod_autoscaler_", "job_", "replicaset_", "statefulset_"}
		case familyServer:
			allowed = []string{"apiserver_"}
		}
		if !slices.ContainsFunc(allowed, func(p string) bool { return strings.HasPrefix(m.Name, p) }) {
			return fmt.Errorf("has none of %v", allowed)
		}
		return nil
	}},
	{"only counters end in _total", func(m Metric) error {
		if strings.HasSuffix(m.Name, "_total") != (m.Type == TypeCounter) {
			return fmt.Errorf("is a %s", m.Type)
		}
		return nil
	}},
	{"no suffix that histograms get", func(m Metric) error {
		for _, suffix := range []string{"_count", "_sum", "_bucket", "_created"} {
			if strings.HasSuffix(m.Name, suffix) {
				return fmt.Errorf("ends in %s", suffix)
			}
		}
		return nil
	}},
	{"no type in the name", func(m Metric) error {
		for _, kind := range []string{"_counter", "_gauge", "_histogram", "_summary"} {
			if strings.Contains(m.Name, kind) {
				return fmt.Errorf("contains %s", kind)
			}
		}
		return nil
	}},
	{"base units", func(m Metric) error {
		for _, unit := range badUnits {
			if slices.Contains(strings.Split(m.Name, "_"), unit) {
				return fmt.Errorf("is in %s", unit)
			}
		}
		return nil
	}},
	{"the help of times names the unit, seconds", func(m Metric) error {
		if strings.Contains(strings.ToLower(m.Help), "seconds") != strings.HasSuffix(m.Name, "_seconds") {
			return fmt.Errorf("is called %q and has the help %q", m.Name, m.Help)
		}
		return nil
	}},
	{"help is one sentence of at most 160 characters", func(m Metric) error {
		if len(m.Help) > 160 || !sentence.MatchString(m.Help) || strings.Contains(strings.TrimSuffix(m.Help, "."), ". ") {
			return fmt.Errorf("has the help %q of %d characters", m.Help, len(m.Help))
		}
		return nil
	}},
	{"notes are sentences", func(m Metric) error {
		if m.Notes != "" && !notes.MatchString(m.Notes) {
			return fmt.Errorf("has the notes %q", m.Notes)
		}
		return nil
	}},
	{"buckets belong to histograms and rise", func(m Metric) error {
		if (len(m.Buckets) > 0) != (m.Type == TypeHistogram) || !slices.IsSorted(m.Buckets) || len(slices.Compact(slices.Clone(m.Buckets))) != len(m.Buckets) {
			return fmt.Errorf("is a %s with the buckets %v", m.Type, m.Buckets)
		}
		return nil
	}},
	{"labels are documented and distinct, and do not name objects", func(m Metric) error {
		seen := map[string]bool{}
		for _, l := range m.Labels {
			if l.Name == "" || l.Help == "" || seen[l.Name] || slices.Contains(forbiddenLabels, l.Name) || l.Name == "le" {
				return fmt.Errorf("has the label %+v", l)
			}
			seen[l.Name] = true
			if len(slices.Compact(slices.Sorted(slices.Values(l.Values)))) != len(l.Values) || slices.Contains(l.Values, "") {
				return fmt.Errorf("has the label %s with the values %v", l.Name, l.Values)
			}
		}
		return nil
	}},
	{"informers' metrics carry the three labels of informers first", func(m Metric) error {
		names := m.LabelNames()
		if m.Family == familySeries { // of all informers together
			return nil
		}
		if strings.HasPrefix(m.Name, "k8s_informer_") && !slices.Equal(names[:min(3, len(names))], []string{"name", "informer_type", "watch_namespace"}) {
			return fmt.Errorf("has the labels %v", names)
		}
		return nil
	}},
	{"the family is one of Families", func(m Metric) error {
		if !slices.Contains(Families(), m.Family) {
			return fmt.Errorf("is of the family %q", m.Family)
		}
		return nil
	}},
	{"essential buckets are buckets of essential histograms", func(m Metric) error {
		for _, b := range m.EssentialBuckets {
			if !m.HasBucket(b) {
				return fmt.Errorf("has the essential bucket %v", b)
			}
		}
		if (len(m.EssentialBuckets) > 0) != (m.Essential && m.Type == TypeHistogram) {
			return fmt.Errorf("has the essential buckets %v", m.EssentialBuckets)
		}
		return nil
	}},
	{"values at 0 are those of the last label of a counter or gauge", func(m Metric) error {
		for _, value := range m.AtZero {
			if m.Type != TypeCounter && m.Type != TypeGauge || !slices.Contains(m.Labels[len(m.Labels)-1].Values, value) {
				return fmt.Errorf("has %q at 0", value)
			}
		}
		return nil
	}},
}

func TestEachMetricFollowsTheRules(t *testing.T) {
	for _, m := range All() {
		for _, r := range rules {
			if err := r.check(m); err != nil {
				t.Errorf("%s: %s, but it %v", m.Name, r.name, err)
			}
		}
	}
}

// Each rule detects the metric that violates it.
func TestRulesFindFaults(t *testing.T) {
	good := Metric{
		Name: "k8s_informer_things_total", Help: "Things.", Type: TypeCounter, Family: familyCache, Labels: informer(),
	}
	for _, r := range rules {
		if err := r.check(good); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
	}
	histogram := func(m *Metric) { m.Type, m.Name, m.Buckets = TypeHistogram, "k8s_informer_things", []float64{1, 2} }
	for i, spoil := range []func(*Metric){
		func(m *Metric) { m.Name = "k8s_informer_Things_total" },
		func(m *Metric) { m.Name = "things_total" },
		func(m *Metric) { m.Type = TypeGauge },
		func(m *Metric) { histogram(m); m.Name = "k8s_informer_things_count" },
		func(m *Metric) { m.Name = "k8s_informer_counter_total" },
		func(m *Metric) { m.Name = "k8s_informer_wait_milliseconds_total" },
		func(m *Metric) { m.Help = "Seconds of things." },
		func(m *Metric) { m.Help = "Things. And others." },
		func(m *Metric) { m.Notes = "and others" },
		func(m *Metric) { histogram(m); m.Buckets = []float64{2, 1} },
		func(m *Metric) { m.Labels = informer(Label{Name: "pod", Help: "the pod"}) },
		func(m *Metric) { m.Labels = []Label{LabelWatchNamespace, LabelName, LabelInformerType} },
		func(m *Metric) { m.Family = "Other" },
		func(m *Metric) { m.EssentialBuckets = []float64{1} },
		func(m *Metric) { m.AtZero = []string{"error"} },
	} {
		m := good
		spoil(&m)
		if rules[i].check(m) == nil {
			t.Errorf("the rule %q does not detect the fault of %+v", rules[i].name, m)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	metrics, ids := map[string]bool{}, map[string]bool{}
	for _, m := range All() {
		if metrics[m.Name] {
			t.Errorf("%s is defined twice", m.Name)
		}
		metrics[m.Name] = true
		if found, ok := ByName(m.Name); !ok || found.Name != m.Name {
			t.Errorf("ByName(%q) = %q, %t", m.Name, found.Name, ok)
		}
	}
	// Prometheus and client_golang report these metrics.
	metrics["scrape_duration_seconds"], metrics["go_memstats_heap_alloc_bytes"] = true, true
	for _, o := range Objectives.All() {
		if ids[o.ID] {
			t.Errorf("the objective %s is defined twice", o.ID)
		}
		ids[o.ID] = true
		if !metrics[o.Metric.Name] {
			t.Errorf("the objective %s is about %q, which is not a metric", o.ID, o.Metric.Name)
		}
	}
	if _, ok := ByName("no such metric"); ok {
		t.Error("ByName finds an unknown metric")
	}
}

// A threshold that is not a bucket's bound is compared with an interpolated value, and a threshold at the top bound is
// never exceeded.
func TestObjectivesAreBuckets(t *testing.T) {
	checked := 0
	for _, o := range Objectives.All() {
		if o.Metric.Type != TypeHistogram {
			continue
		}
		checked++
		if !o.Metric.HasBucket(o.Threshold) {
			t.Errorf("%s: %v is not a bucket of %s: %v", o.ID, o.Threshold, o.Metric.Name, o.Metric.Buckets)
		}
		if o.Metric.Essential && !slices.Contains(o.Metric.EssentialBuckets, o.Threshold) {
			t.Errorf("%s: %v is not an essential bucket of %s: %v", o.ID, o.Threshold, o.Metric.Name, o.Metric.EssentialBuckets)
		}
		if o.Threshold >= slices.Max(o.Metric.Buckets) {
			t.Errorf("%s: no bucket of %s is above %v", o.ID, o.Metric.Name, o.Threshold)
		}
	}
	if checked < 4 {
		t.Errorf("only %d objectives are about histograms", checked)
	}
	for _, documented := range []float64{.001, .01, .1, 1, 10} {
		if !InformerEventLag.HasBucket(documented) {
			t.Errorf("the documented bucket %v of the event lag is missing (S3)", documented)
		}
	}
}

// Everything that is declared is listed: All and Objectives return every metric and objective, so that the documentation is
// complete.
func TestEverythingThatIsDeclaredIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, m := range All() {
		listed[m.Name] = true
	}
	for _, o := range Objectives.All() {
		listed[o.ID] = true
	}
	declared := 0
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		declare := func(value ast.Expr) {
			declared++
			if text, _ := strconv.Unquote(value.(*ast.BasicLit).Value); !listed[text] {
				t.Errorf("%s is declared in %s but not listed in all.go", text, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if function, ok := call.Fun.(*ast.Ident); ok && function.Name == "mustNotHappen" {
					declare(call.Args[0])
				}
			}
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind, ok := lit.Type.(*ast.Ident)
			if !ok || kind.Name != "Metric" && kind.Name != "Objective" {
				return true
			}
			for _, element := range lit.Elts {
				kv := element.(*ast.KeyValueExpr)
				_, literal := kv.Value.(*ast.BasicLit)
				if key := kv.Key.(*ast.Ident).Name; literal && (key == "Name" || key == "ID") {
					declare(kv.Value)
				}
			}
			return true
		})
	}
	if declared != len(listed) {
		t.Errorf("%d are declared and %d are listed", declared, len(listed))
	}
}

// The lists are in reading order.
func TestListsAreInTheOrderOfFamilies(t *testing.T) {
	families := Families()
	if !slices.IsSortedFunc(All(), func(a, b Metric) int {
		return cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family))
	}) {
		t.Error("the metrics are not in the order of their families")
	}
	if !slices.IsSortedFunc(Objectives.All(), func(a, b Objective) int {
		return cmp.Or(cmp.Compare(slices.Index(families, a.Metric.Family), slices.Index(families, b.Metric.Family)), cmp.Compare(a.ID, b.ID))
	}) {
		t.Error("the objectives are not in the order of their metrics' families")
	}
}
