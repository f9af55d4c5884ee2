package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each inhibition compares the labels that identify the objects of both alerts, so that it mutes no alert of a neighbor.
// TestNeighborsAreNotMuted in test/e2e sends such alerts through Alertmanager.
func TestInhibitionsCompareIdentities(t *testing.T) {
	c := Config{Alertmanager: Alertmanager{KubeAPIDown: true}}
	matched := func(matchers []string) (found []Alert) {
		name := regexp.MustCompile(`^alertname=~?"(.+)"$`).FindStringSubmatch(matchers[0])[1]
		for _, a := range All() {
			if regexp.MustCompile("^(?:" + name + ")$").MatchString(a.Name) {
				found = append(found, a)
			}
		}
		return found
	}
	identity := func(a Alert) (labels []string) {
		for _, l := range a.labels {
			if _, of, ok := strings.Cut(l, "="); ok {
				l = of // the variable controller from the label name
			}
			labels = append(labels, c.name(l))
		}
		return labels
	}
	compared := 0
	for _, rule := range inhibitions(c) {
		for _, source := range matched(rule.SourceMatchers) {
			for _, target := range matched(rule.TargetMatchers) {
				for _, l := range identity(source) {
					switch {
					case !slices.Contains(identity(target), l):
					case source.Name == "InformerVersionRegression" && l == "instance": // another replica has restarted since
					case !slices.Contains(rule.Equal, l):
						t.Errorf("%s mutes %s of another %s: equal is %v", source.Name, target.Name, l, rule.Equal)
					default:
						compared++
					}
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d labels are compared", compared)
	}
}
