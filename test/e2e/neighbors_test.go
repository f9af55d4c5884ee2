package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// alertsOf returns the label sets of one object's alerts from a rule: with every label that its expression may carry. The
// operands of ControllerLeaderMissing carry different labels.
func alertsOf(t *testing.T, r alerts.Rule, recorded map[string][]string) []model.LabelSet {
	t.Helper()
	own, err := checkQuery(r.Expr, recorded)
	if err != nil {
		t.Fatalf("%s: %v", r.Alert, err)
	}
	values := model.LabelSet{"namespace": "a", "lease_namespace": "a", "lease": "main", "lock": "a/main", "name": "informer-exporter"}
	set := model.LabelSet{"alertname": model.LabelValue(r.Alert)}
	for _, l := range own {
		set[model.LabelName(l)] = values[model.LabelName(l)]
		if set[model.LabelName(l)] == "" {
			set[model.LabelName(l)] = model.LabelValue("one-" + l)
		}
	}
	for l, value := range r.Labels {
		set[model.LabelName(l)] = model.LabelValue(value)
	}
	sets := []model.LabelSet{set}
	if r.Alert == "ControllerLeaderMissing" || r.Alert == "ControllerLeaderChanges" {
		decorated := without(without(set, "lease"), "lease_namespace")
		upstream := with(without(set, "lease_namespace"), "lock", "main")
		if _, ok := set["lease"]; ok {
			sets = append(sets, without(set, "name"), decorated, upstream, without(upstream, "namespace"))
		} else {
			sets = append(sets, upstream)
		}
	}
	return sets
}

// neighbors returns alerts of other objects: each differs from an alert in one label that another alert carries as well, and in
// the labels that follow from it.
func neighbors(in, other model.LabelSet) map[model.LabelName]model.LabelSet {
	found := map[model.LabelName]model.LabelSet{}
	for l := range in {
		_, both := other[l]
		if !both || slices.Contains([]string{"alertname", "severity", alerts.MutesLabel, "window", "pod"}, string(l)) { // an instance is in one Pod
			continue
		}
		n := with(in, string(l), "other")
		if _, ok := in["lease_namespace"]; ok || strings.Contains(string(in["lock"]), "/") {
			namespace, lease, _ := strings.Cut(string(in["lock"]), "/")
			switch l {
			case "lease", "lock":
				lease = "other"
			case "namespace", "lease_namespace":
				namespace = "other"
			}
			for name, value := range map[string]string{"namespace": namespace, "lease_namespace": namespace, "lease": lease, "lock": namespace + "/" + lease} {
				if _, ok := in[model.LabelName(name)]; ok {
					n = with(n, name, value)
				}
			}
		}
		found[l] = n
	}
	return found
}

// broad are labels in which the effects of a cause may differ from it, by the name of the cause.
var broad = map[string][]model.LabelName{
	"InformerVersionRegression": {"instance"}, // another replica has restarted since
}

// Each inhibition mutes an alert on the same object, and no alert of a neighbor. Alertmanager itself decides on each pair of
// alerts that the rules can raise.
func TestNeighborsAreNotMuted(t *testing.T) {
	recorded := recordedSeries(t)
	rules := rulesOf(alerts.Config{})
	muting := map[string]bool{}
	for _, source := range rules {
		for _, of := range alertsOf(t, source, recorded) {
			i := inhibitor(t, of)
			for _, target := range rules {
				for _, in := range alertsOf(t, target, recorded) {
					if maps.Equal(of, in) || !i.Mutes(t.Context(), in) {
						continue
					}
					muting[source.Alert+" "+target.Alert] = true
					for label, neighbor := range neighbors(in, of) {
						if i.Mutes(t.Context(), neighbor) && !slices.Contains(broad[source.Alert], label) {
							t.Errorf("%s mutes %s of another %s\n%v\n%v", source.Alert, target.Alert, label, of, neighbor)
						}
					}
				}
			}
		}
	}
	if len(muting) < 40 {
		t.Errorf("only %d pairs of alerts: %v", len(muting), slices.Sorted(maps.Keys(muting)))
	}
}
