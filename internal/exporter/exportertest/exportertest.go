// Package exportertest contains helpers for tests of the exporter's packages: a cluster without an API server, and readers of
// metrics.
package exportertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// MetadataClient returns a client for a cluster that has two pods and forbids listing secrets.
func MetadataClient(t testing.TB) *fake.FakeMetadataClient {
	t.Helper()
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := []runtime.Object{}
	for _, name := range []string{"a", "b"} {
		objects = append(objects, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "unmistakable-" + name, ResourceVersion: "7"},
		})
	}
	client := fake.NewSimpleMetadataClient(scheme, objects...)
	client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no <rights>"))
	})
	return client
}

// Discovery returns the discovery of a cluster that serves groups such as "apps/v1,v1beta1/deployments,replicasets" or
// "v1/pods", with the preferred version first. The discovery of "down:example.com/v1" fails.
func Discovery(served ...string) func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return func(context.Context) (groups []*metav1.APIGroup, lists []*metav1.APIResourceList, err error) {
		failed := map[schema.GroupVersion]error{}
		for _, text := range served {
			text, down := strings.CutPrefix(text, "down:")
			parts := strings.Split(text, "/")
			if len(parts) == 2 && !down {
				parts = slices.Insert(parts, 0, "")
			}
			group := &metav1.APIGroup{Name: parts[0]}
			for _, version := range strings.Split(parts[1], ",") {
				gv := schema.GroupVersion{Group: parts[0], Version: version}
				group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: version})
				if down {
					failed[gv] = errors.New("down")
					continue
				}
				list := &metav1.APIResourceList{GroupVersion: gv.String()}
				for _, name := range strings.Split(parts[2], ",") {
					list.APIResources = append(list.APIResources,
						metav1.APIResource{Name: name, Namespaced: name != "nodes" && name != "planets", Verbs: metav1.Verbs{"list", "watch", "get"}},
						metav1.APIResource{Name: name + "/status", Verbs: metav1.Verbs{"list", "watch"}},
						metav1.APIResource{Name: "unwatched" + name, Verbs: metav1.Verbs{"list", "get"}},
						metav1.APIResource{Name: "unlisted" + name, Verbs: metav1.Verbs{"watch", "get"}})
				}
				lists = append(lists, list)
			}
			group.PreferredVersion = group.Versions[0]
			slices.Reverse(group.Versions) // the order must not matter
			groups = append(groups, group)
		}
		if len(failed) > 0 {
			err = &discovery.ErrGroupDiscoveryFailed{Groups: failed}
		}
		return groups, lists, err
	}
}

// Values returns the samples of a gauge or counter by the value of a label. Each sample must have the label.
func Values(t testing.TB, g prometheus.Gatherer, name, label string) map[string]float64 {
	t.Helper()
	samples := metricstest.Gather(t, g)
	for _, s := range samples.Select(name) {
		if _, found := s.Labels[label]; !found {
			t.Fatalf("%s has no label %s", name, label)
		}
	}
	return samples.By(name, label)
}

// SeriesOf counts the samples of an informer_type.
func SeriesOf(t testing.TB, g prometheus.Gatherer, informerType string) (n int) {
	t.Helper()
	for _, s := range metricstest.Gather(t, g) {
		if s.Labels["informer_type"] == informerType {
			n++
		}
	}
	return n
}
