package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// ourSeries are all series of this project, including recording rules and series that have ended.
const ourSeries = `last_over_time({__name__=~"k8s_informer_.+|k8s_client_.+|k8s_lease_.+|k8s_object_.+|controller_.+|workqueue_.+|leader_election_.+|informer_exporter_.+|informer:.+|lease:.+|cluster:.+|cluster_name:.+|ALERTS|ALERTS_FOR_STATE"}[1h])`

// TestNoSeriesNamesAnObject compares every label of every series with the names of all objects in the cluster.
func TestNoSeriesNamesAnObject(t *testing.T) {
	c := theChain(t)
	awaitKinds(t, c, `k8s_informer_synced{name="informer-exporter"} == 1`, defaultKinds())
	await.Within(t, patience, "the load generator", func(context.Context) error {
		if s := c.Load.Stats(); s.Created < 50 || s.Deleted < 5 {
			return fmt.Errorf("has written too few objects so far: %+v", s)
		}
		return nil
	})
	samples, err := c.Prometheus.Query(t.Context(), ourSeries)
	if err != nil {
		t.Fatal(err)
	}
	names := objectNames(t, c.ControlPlane.Config())
	if names["load-0"] == "" || len(names) < 100 {
		t.Fatalf("only %d names were found in the cluster", len(names))
	}
	if len(samples) < 1000 {
		t.Errorf("only %d series were found in Prometheus", len(samples))
	}
	for _, s := range samples {
		for _, l := range leaks(s.Labels, names) {
			t.Errorf("%s: %s", s.Labels["__name__"], l)
		}
	}
	t.Logf("%d series, %d names", len(samples), len(names))
}

// objectNames lists all objects of the API server, and returns the resource for each name.
func objectNames(t *testing.T, config *rest.Config) map[string]string {
	t.Helper()
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client := metadata.NewForConfigOrDie(config)
	names := map[string]string{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			objects, err := client.Resource(version.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			for _, o := range objects.Items {
				names[o.Name] = r.Name
			}
		}
	}
	return names
}

// programs are the values of name, job, lock and controller. The manifests give the exporter's objects the program's name,
// and a lock has the name of its Lease, which is the program's.
var programs = []string{"informer-exporter", "kube-controller-manager", "load", "owner-labels", "owner-labels.example.com", "tiers", "widgets"}

var (
	loadObject = regexp.MustCompile(`\b(pod|configmap|deployment|widget)-[0-9]+`) // possibly deleted by now
	uid        = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// leaks returns the labels that reveal an object's name, key or UID.
func leaks(series, names map[string]string) []string {
	var found []string
	for _, label := range slices.Sorted(maps.Keys(series)) {
		value := series[label]
		if label == "__name__" || slices.Contains([]string{"name", "job", "lock", "controller"}, label) && slices.Contains(programs, value) {
			continue
		}
		if slices.Contains([]string{"informer_type", "resource"}, label) && names[value] == "customresourcedefinitions" {
			continue // their names are those of resources
		}
		if isMeant(series, label) {
			continue
		}
		namespace, name, isKey := strings.Cut(value, "/")
		if label == "lock" && isKey && slices.Contains(programs, name) {
			continue // of an exporter, with the namespace of its Lease
		}
		switch {
		case names[value] != "":
			found = append(found, fmt.Sprintf("%s=%q is the name of one of the %s", label, value, names[value]))
		case isKey && names[namespace] != "" && names[name] != "":
			found = append(found, fmt.Sprintf("%s=%q is the key of one of the %s", label, value, names[name]))
		case loadObject.MatchString(value), uid.MatchString(value):
			found = append(found, fmt.Sprintf("%s=%q is about a single object", label, value))
		}
	}
	return found
}

// isMeant reports whether a label is meant to name an object: a Lease and its holder, the namespace of k8s_object_*, and that of
// a lock in alerts.
func isMeant(series map[string]string, label string) bool {
	name, alert := series["__name__"], series["alertname"]
	switch label {
	case "lease", "lease_namespace", "holder":
		return strings.HasPrefix(name, "k8s_lease_") || strings.HasPrefix(name, "lease:k8s_lease_") ||
			strings.HasPrefix(alert, "ClusterLease") || alert == "ControllerLeaderMissing"
	case "namespace":
		return strings.HasPrefix(name, "k8s_object_") || strings.HasPrefix(alert, "Cluster") || strings.Contains(alert, "Leader")
	}
	return false
}

func TestLeaksAreSeen(t *testing.T) {
	names := map[string]string{"default": "namespaces", "web": "pods", "informer-exporter": "deployments"}
	for _, bad := range []map[string]string{
		{"namespace": "default"}, {"handler": "web"}, {"key": "default/web"}, {"holder": "load-0/pod-12"},
		{"name": "deployment-9-7c5d"}, {"uid": "0f8b1c9e-0c3b-4d53-9a56-0f0d8a2b7e11"}, {"handler": "informer-exporter"},
		{"lock": "web"}, {"lock": "default/web"}, {"__name__": "k8s_object_terminating", "finalizer": "web"}, {"__name__": "k8s_informer_synced", "namespace": "default"},
		{"__name__": "ALERTS", "alertname": "InformerNotSynced", "lease": "web"},
	} {
		if len(leaks(bad, names)) != 1 {
			t.Errorf("%v should be reported", bad)
		}
	}
	good := map[string]string{"__name__": "web", "name": "informer-exporter", "job": "load", "lock": "load", "namespace": "*", "informer_type": "pods", "reason": "expired"}
	for _, good := range []map[string]string{
		good, {"lock": "default/load"}, {"__name__": "k8s_lease_holder_info", "lease_namespace": "default", "lease": "web", "holder": "web"},
		{"__name__": "k8s_object_terminating", "namespace": "default"}, {"__name__": "ALERTS", "alertname": "ClusterNamespaceStuck", "namespace": "default"},
		{"__name__": "ALERTS", "alertname": "ControllerLeaderChanges", "namespace": "default"},
	} {
		if l := leaks(good, names); len(l) > 0 {
			t.Errorf("%v reveals no name: %v", good, l)
		}
	}
}
