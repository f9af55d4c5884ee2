package chaos

import (
	"testing"
)

// A claim that does not hold is detected.
func TestClaims(t *testing.T) {
	series := func(value float64, labels map[string]string) sample {
		return sample{name: "k8s_informer_audits_total", labels: labels, value: value}
	}
	pods, nodes := map[string]string{"informer_type": "pods", "result": "error"}, map[string]string{"informer_type": "nodes", "result": "error"}
	before, now := look{}, look{}
	before.put(series(1, pods))
	now.put(series(2, pods))
	now.put(series(2, nodes))
	for text, want := range map[string]bool{
		`audits_total 2`:                             true,
		`audits_total 1`:                             false,
		`audits_total > 1`:                           true,
		`audits_total > 2`:                           false,
		`audits_total < 3`:                           true,
		`audits_total < 2`:                           false,
		`audits_total grows`:                         true,
		`audits_total stays`:                         false,
		`audits_total{informer_type="nodes"} stays`:  true, // did not exist
		`audits_total{result="skipped"} 2`:           false,
		`audits_total{result="skipped"} grows`:       false,
		`audits_total{result="skipped"} absent`:      true,
		`audits_total{result="error"} absent`:        false,
		`audits_total{informer_type="nodes"} absent`: false,
		`synced 1`:                             false,
		`state{state="synced"} absent`:         true,
		`audits_total{informer_type="pods"} 2`: true,
		`audits_total{result="error"} > 1`:     true,
	} {
		c, err := parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := c.holds(now, before); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	now = before
	if c, err := parse("audits_total grows"); err != nil || c.holds(now, before) == nil {
		t.Errorf("an unchanged value grows (%v)", err)
	}
	for _, text := range []string{"audits 0", "audits_total", "audits_total{result=\"never\"} absent", "audits_total{results=\"failed\"} absent", "audits_total == 1"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q parses as a claim", text)
		}
	}
}
