package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// The flags set the namespace of the Lease, which defaults to that of the pod.
func TestElectionFlags(t *testing.T) {
	inPod := write(t, "namespace", "of-the-account\n")
	nowhere := filepath.Join(t.TempDir(), "missing")
	for name, tc := range map[string]struct {
		flags     electionFlags
		variable  string
		file      string
		namespace string
		err       string
	}{
		"off":                 {electionFlags{name: "x", namespace: "NO"}, "", nowhere, "", ""},
		"a flag":              {electionFlags{elect: true, name: "x", namespace: "given"}, "of-the-variable", inPod, "given", ""},
		"a variable":          {electionFlags{elect: true, name: "x"}, "of-the-variable", inPod, "of-the-variable", ""},
		"a service account":   {electionFlags{elect: true, name: "x"}, "", inPod, "of-the-account", ""},
		"nothing":             {electionFlags{elect: true, name: "x"}, "", nowhere, "", "set --leader-elect.lease-namespace"},
		"no namespace's name": {electionFlags{elect: true, name: "x", namespace: "a/b"}, "", inPod, "", `--leader-elect.lease-namespace: "a/b"`},
		"no Lease's name":     {electionFlags{elect: true, name: "X y"}, "", inPod, "", `--leader-elect.lease-name: "X y"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", tc.variable)
			before := serviceAccountNamespace
			serviceAccountNamespace = tc.file
			t.Cleanup(func() { serviceAccountNamespace = before })
			got, err := tc.flags.election(sharding.Shard{})
			switch {
			case tc.err != "":
				if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want a usage error with %q", err, tc.err)
				}
			case err != nil:
				t.Error(err)
			case tc.namespace == "":
				if got != nil {
					t.Errorf("%+v without --leader-elect", got)
				}
			case got.Namespace != tc.namespace || got.Name != "x":
				t.Errorf("%+v, want the Lease %s/x", got, tc.namespace)
			default:
				if again, _ := tc.flags.election(sharding.Shard{}); again.Identity == got.Identity {
					t.Errorf("two candidates have the identity %s", got.Identity)
				}
			}
		})
	}
}

// Every shard has its own election, because the leader of another shard does not run its audits.
func TestElectionOfAShard(t *testing.T) {
	for shard, want := range map[sharding.Shard]string{{}: "informer-exporter", {Ordinal: 0, Total: 3}: "informer-exporter-0", {Ordinal: 2, Total: 3}: "informer-exporter-2"} {
		named := electionFlags{elect: true, namespace: "shop", name: "mine"}
		if got, err := named.election(shard); err != nil || got.Name != strings.Replace(want, "informer-exporter", "mine", 1) {
			t.Errorf("shard %v of mine: %+v, %v; want the number of %s", shard, got, err, want)
		}
		flags := electionFlags{elect: true, namespace: "shop"}
		if got, err := flags.election(shard); err != nil || got.Name != want {
			t.Errorf("shard %v: %+v, %v; want the Lease %s", shard, got, err, want)
		}
	}
}
