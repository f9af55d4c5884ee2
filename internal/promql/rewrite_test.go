package promql_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/promql"
)

func TestRewrite(t *testing.T) {
	r := promql.Rewrite{Labels: map[string]string{"cluster": "k8s_cluster", "namespace": "exported_namespace"}, Selector: `team="a"`}
	for expr, want := range map[string]string{
		`k8s_informer_synced == 0`: `k8s_informer_synced{team="a"} == 0`,
		`sum by (cluster, name) (rate(k8s_informer_relists_total{cluster=~"$cluster", reason="expired"}[$__rate_interval]))`: `sum by (k8s_cluster, name) (rate(k8s_informer_relists_total{team="a", k8s_cluster=~"$cluster", reason="expired"}[$__rate_interval]))`,
		"max by (namespace) (k8s_informer_objects{}) # by (cluster)\nand on(cluster) up":                                     "max by (exported_namespace) (k8s_informer_objects{team=\"a\"}) # by (cluster)\nand on(k8s_cluster) up{team=\"a\"}",
		`{__name__=~"a|b", namespace="x"}`: `{team="a", __name__=~"a|b", exported_namespace="x"}`,
		// A recorded series was selected when it was recorded.
		`sum without (namespace) (informer:x:rate5m{namespace="x"}) / informer:x:rate1h`: `sum without (exported_namespace) (informer:x:rate5m{exported_namespace="x"}) / informer:x:rate1h`,
		`max by (cluster) (ALERTS{cluster="x"}) or ALERTS`:                               `max by (k8s_cluster) (ALERTS{k8s_cluster="x"}) or ALERTS`,
		// What is in quotes is no label.
		`label_replace(up, "cluster", "$1", "namespace", "(.*)") > bool 0`: `label_replace(up{team="a"}, "cluster", "$1", "namespace", "(.*)") > bool 0`,
		`time() - up offset 1h`:      `time() - up{team="a"} offset 1h`,
		`a * on (name) group_left b`: `a{team="a"} * on (name) group_left b{team="a"}`,
	} {
		got, err := r.Apply(expr)
		if err != nil || got != want {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", expr, got, err, want)
		}
		if same, err := (promql.Rewrite{}).Apply(expr); err != nil || same != expr {
			t.Errorf("nothing to rewrite: %s became %s (%v)", expr, same, err)
		}
	}
	if _, err := r.Apply("sum("); err == nil {
		t.Error("what is no query is rewritten")
	}
	if _, err := (promql.Rewrite{Selector: "env"}).Apply("up"); err == nil {
		t.Error("what is no matcher selects")
	}
}

// Whatever Scan accepts can be rewritten, and stays a query with the same series.
func FuzzRewrite(f *testing.F) {
	f.Add(`sum by (name) (rate(a_total{b!="c"}[5m] offset 1m)) > on(b) group_left(c) up # d`)
	f.Fuzz(func(t *testing.T, expr string) {
		before, err := promql.Scan(expr)
		if err != nil {
			return
		}
		got, err := promql.Rewrite{Labels: map[string]string{"b": "e"}, Selector: `f="g"`}.Apply(expr)
		if err != nil {
			t.Fatal(err)
		}
		after, err := promql.Scan(got)
		if err != nil || len(after.Series) != len(before.Series) {
			t.Fatalf("%s became %s: %v", expr, got, err)
		}
	})
}
