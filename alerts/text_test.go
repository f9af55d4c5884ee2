package alerts_test

import (
	"strings"
	"testing"
)

// Texts that name an instance name its Pod instead, if it has one. Texts that name a job or an instance also name its namespace:
// two installations of a program have the same job.
func TestTextsNameTheTarget(t *testing.T) {
	named := 0
	for _, r := range defaultRules() {
		for _, text := range []string{r.Annotations["summary"], r.Annotations["description"]} {
			instance, job := strings.Contains(text, "$labels.instance"), strings.Contains(text, "$labels.job")
			if instance || job {
				named++
			}
			if instance && !strings.Contains(text, "with $labels.pod") {
				t.Errorf("%s does not name the Pod: %s", r.Alert, text)
			}
			if (instance || job) && !strings.Contains(text, "with $labels.namespace") {
				t.Errorf("%s does not name the namespace: %s", r.Alert, text)
			}
		}
	}
	if named == 0 {
		t.Error("no text names a target")
	}
}
