// Package watched lists the resources that other programs watch in benchmarks, for comparison with the exporter.
package watched

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Resources returns the resources that the exporter watches by default in the clusters of benchmarks: its default resources,
// and all resources in groups below example.com. Group and version are set.
func Resources(config *rest.Config) (watched []metav1.APIResource, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := client.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	for _, list := range served {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			byDefault := slices.ContainsFunc(kinds.Default(), func(k kinds.Kind) bool { return k.Group == gv.Group && k.Resource == r.Name })
			if (byDefault || strings.HasSuffix(gv.Group, ".example.com")) && !strings.Contains(r.Name, "/") {
				r.Group, r.Version = gv.Group, gv.Version
				watched = append(watched, r)
			}
		}
	}
	return watched, nil
}
