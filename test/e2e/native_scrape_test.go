package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// TestNativeFormsOnPrometheus compares the forms of each query on the same observations. One Prometheus scrapes a program
// twice: its classic histograms, and its native ones. Counts, sums and means must agree, shares and quantiles within the
// width of a native bucket or, where that is wider, of the classic bucket in which the quantile lies. A second program has
// classic histograms only, which the second scrape converts: all its results must agree.
func TestNativeFormsOnPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Prometheus")
	}
	programs := map[string]bool{"both": true, "converted": false}
	observers := map[string][]prometheus.Observer{}
	var targets []stack.ScrapeTarget
	for name, native := range programs {
		registry := prometheus.NewPedanticRegistry()
		for _, m := range catalog.All() {
			if m.Type != catalog.TypeHistogram {
				continue
			}
			options := prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}
			if last := len(m.Buckets) - 1; m.Buckets[last] < 10 { // the classic form does not see beyond its buckets
				options.Buckets = append(slices.Clone(m.Buckets), 10)
			}
			if native {
				options.NativeHistogramBucketFactor, options.NativeHistogramMaxBucketNumber = 1.1, 160
			}
			vector := prometheus.NewHistogramVec(options, m.LabelNames())
			registry.MustRegister(vector)
			values := make([]string, len(m.Labels))
			for i, l := range m.Labels {
				if values[i] = "x"; len(l.Values) > 0 {
					values[i] = l.Values[0]
				}
			}
			observers[name] = append(observers[name], vector.WithLabelValues(values...))
		}
		server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
		t.Cleanup(server.Close)
		address := strings.TrimPrefix(server.URL, "http://")
		for _, form := range []string{"classic", "native"} {
			targets = append(targets, stack.ScrapeTarget{
				Job: name + " " + form, Addresses: []string{address}, Labels: map[string]string{"form": form, "cluster": name},
				NativeHistograms: form == "native",
			})
		}
	}
	p, err := stack.StartPrometheus(t.Context(), stack.PrometheusOptions{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	scraped := func(expr string, want int) {
		await.Within(t, patience, expr, func(ctx context.Context) error {
			samples, err := p.Query(ctx, expr)
			if err != nil || len(samples) != want {
				return fmt.Errorf("%d results, want %d: %w", len(samples), want, err)
			}
			return nil
		})
	}
	scraped(`count_over_time(workqueue_queue_duration_seconds[1m]) > 1`, 2)
	scraped(`count_over_time(workqueue_queue_duration_seconds_count[1m]) > 1`, 2)
	for _, of := range observers {
		for _, o := range of {
			for i := range 1000 {
				o.Observe(math.Pow(10, float64(i)/250-3.1)) // 0.8 ms to 8 s, below the top buckets
			}
		}
	}
	scraped(`histogram_count(workqueue_queue_duration_seconds) == 1000`, 2)
	scraped(`workqueue_queue_duration_seconds_count == 1000`, 2)
	scraped(`count_over_time(up[1m]) > 15`, 4)

	n := 0
	for _, q := range histogramQueries(t, `form="classic"`, `form="native"`) {
		if strings.Contains(q.of, "runbook") || strings.HasSuffix(q.of, "WithoutBuckets") || strings.Contains(q.of, "distribution") {
			continue // a command of a runbook, the alert about the form, or a heatmap
		}
		for _, c := range comparedParts(t, q) {
			classic, native := results(t, p, c.classic), results(t, p, c.native)
			if len(classic) == 0 {
				continue // not a histogram, or recorded
			}
			n++
			if !slices.Equal(slices.Sorted(maps.Keys(classic)), slices.Sorted(maps.Keys(native))) {
				t.Errorf("%s: %v in the classic form, %v in the native one\n%s\n%s", q.of, classic, native, c.classic, c.native)
				continue
			}
			for series, want := range classic {
				if p99 := 7.24; strings.HasPrefix(c.native, "histogram_quantile(0.99") && strings.Contains(series, "cluster:both") && math.Abs(native[series]-p99) > .1*p99 {
					t.Errorf("%s: the 99th percentile is %v, want %v", q.of, native[series], p99)
				}
				if got := native[series]; math.Abs(got-want) > c.tolerance*math.Max(math.Abs(want), .01) {
					t.Errorf("%s: %s is %v in the classic form, %v in the native one\n%s", q.of, series, want, got, c.native)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d expressions were compared", n)
	}
}

type compared struct {
	classic, native string
	tolerance       float64
}

// comparedParts returns the operands of comparisons with a number and of set operators, and the expression itself without them.
func comparedParts(t *testing.T, q bothForms) (list []compared) {
	t.Helper()
	a, b := operands(t, q.classic), operands(t, q.native)
	if len(a) != len(b) {
		t.Fatalf("%s: %d operands, and %d in the native form: %v\n%v", q.of, len(a), len(b), a, b)
	}
	for i := range a {
		c := compared{a[i], b[i], .12}
		if strings.Contains(a[i], "histogram_quantile") {
			c.tolerance = 1
		}
		list = append(list, c)
	}
	return list
}

func operands(t *testing.T, expr string) []string {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	var split func(e parser.Expr) []string
	split = func(e parser.Expr) []string {
		switch e := e.(type) {
		case *parser.ParenExpr:
			return split(e.Expr)
		case *parser.BinaryExpr:
			if e.Op == parser.LAND || e.Op == parser.LUNLESS || e.Op.IsComparisonOperator() && !e.ReturnBool {
				return append(split(e.LHS), split(e.RHS)...)
			}
		case *parser.NumberLiteral:
			return nil
		}
		return []string{e.String()}
	}
	return split(parsed)
}

// results returns the values of a query by their labels, without those that distinguish the scrapes.
func results(t *testing.T, p *stack.Prometheus, expr string) map[string]float64 {
	t.Helper()
	samples, err := p.Query(t.Context(), expr)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, s := range samples {
		for _, name := range []string{"form", "__name__"} {
			delete(s.Labels, name)
		}
		for name, value := range s.Labels {
			s.Labels[name] = strings.NewReplacer(" classic", "", " native", "").Replace(value)
		}
		values[fmt.Sprint(s.Labels)] = s.Value
	}
	return values
}
