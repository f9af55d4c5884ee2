package deploy_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// accepted are the checks of kube-score that the manifests fail, each with the reason.
var accepted = map[string]string{
	"container-ephemeral-storage-request-and-limit": "the root file system is read-only, and no volume is written to",
	"deployment-has-host-podantiaffinity":           "topology spread constraints have the same effect",
	"deployment-replicas":                           "one replica is enough for most clusters; the number is a value of the chart",
	"deployment-strategy":                           "a single replica is recreated: two at a time would report everything twice",
	"pod-networkpolicy":                             "no selector describes the API server, the only destination, in all clusters",
	"statefulset-has-host-podantiaffinity":          "topology spread constraints have the same effect",
	"statefulset-has-servicename":                   "the replicas do not address each other, so the Service need not be headless",
	"container-image-pull-policy":                   "the default image has a version, which does not change; the policy is a value of the chart",
}

// In each installation, with a NetworkPolicy, only the accepted checks of kube-score fail. The check for a CPU limit is disabled: a
// limit would throttle the exporter during the initial lists.
func TestKubeScore(t *testing.T) {
	find := exec.Command("go", "tool", "-modfile=../../tools/kube-score/go.mod", "-n", "kube-score")
	find.Env = append(os.Environ(), "GOWORK=off")
	tool, err := find.Output()
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string]bool{}
	for name, values := range installations {
		if !strings.Contains(values, "networkPolicy:") {
			values += "\nnetworkPolicy: {enabled: true}\n"
		}
		text, err := render(values)
		if err != nil {
			t.Fatal(err)
		}
		score := exec.Command(strings.TrimSpace(string(tool)), "score", "--output-format=json", "--ignore-container-cpu-limit", "--kubernetes-version=v1.36", "-")
		score.Stdin = strings.NewReader(text)
		output, err := score.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) { // 1 if a check fails
			t.Fatal(err)
		}
		var objects []struct {
			Name   string `json:"object_name"`
			Checks []struct {
				Check    struct{ ID string }
				Grade    int
				Skipped  bool
				Comments []struct{ Path, Summary string }
			}
		}
		if err := json.Unmarshal(output, &objects); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		}
		checks := 0
		for _, object := range objects {
			for _, c := range object.Checks {
				checks++
				const warning = 5 // and 1 is critical
				if c.Skipped || c.Grade > warning {
					continue
				}
				failed[c.Check.ID] = true
				if accepted[c.Check.ID] == "" {
					t.Errorf("%s: %s: %s: %v", name, object.Name, c.Check.ID, c.Comments)
				}
			}
		}
		if checks < 20 {
			t.Errorf("%s: only %d checks", name, checks)
		}
	}
	for id := range accepted {
		if !failed[id] {
			t.Errorf("%s no longer fails: remove it from the accepted checks", id)
		}
	}
}
