package main

import (
	"os"
	"strings"
	"testing"
)

// Only a stable metric that breaks fails the command: a release checks the exit code.
func TestRun(t *testing.T) {
	const page = "../../../../deploy/metrics.md"
	now, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const stable, beta = "| `k8s_informer_synced` | gauge | stable |", "| `k8s_informer_cache_hits_total` | counter | beta |"
	for name, test := range map[string]struct{ older, printed, failure string }{
		"same":           {string(now), "", ""},
		"stable removed": {strings.Replace(string(now), stable, "| `k8s_informer_gone` | counter | stable |", 1), "removed stable k8s_informer_gone", "1 stable metrics break"},
		"stable type":    {strings.Replace(string(now), stable, "| `k8s_informer_synced` | counter | stable |", 1), "changed stable k8s_informer_synced: type gauge, was counter", "1 stable metrics break"},
		"beta renamed":   {strings.Replace(string(now), beta, "| `k8s_informer_gone_total` | counter | beta |", 1), "renamed beta k8s_informer_gone_total: now k8s_informer_cache_hits_total", ""},
		"stable added":   {strings.Replace(string(now), stable, "", 1), "added   k8s_informer_synced", ""},
		"not a page":     {"", "", "older version"},
	} {
		var out strings.Builder
		err := run([]string{page}, strings.NewReader(test.older), &out)
		if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
			t.Errorf("%s: error %v, want %q", name, err, test.failure)
		}
		if !strings.Contains(out.String(), test.printed) || test.printed == "" && out.Len() > 0 {
			t.Errorf("%s: printed %q, want %q", name, out.String(), test.printed)
		}
	}
	if err := run(nil, strings.NewReader(string(now)), &strings.Builder{}); err == nil {
		t.Error("no error without an argument")
	}
}
