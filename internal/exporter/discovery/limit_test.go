package discovery

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata/fake"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers/informerstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// Beyond the limit, kinds that were found are not watched. Named ones are, those that are watched stay, and the log names the rest.
func TestTooManyKinds(t *testing.T) {
	var written logtest.Recorder
	making := informerstest.NewFactory(t, prometheus.NewRegistry())
	set := informers.NewSet(making.New)
	served := []string{"v1/pods", "d.example.com/v1/widgets", "e.example.com/v1/widgets", "z.example.com/v1/widgets"}
	f := New(Options{
		Config:    config.Config{Resources: []config.Resource{{Name: "*.example.com"}, {Name: "pods"}, {Name: "widgets.z.example.com"}}},
		Informers: set, Client: fake.NewSimpleMetadataClient(fake.NewTestScheme()), Logger: written.Logger(),
		Discover: func(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
			return exportertest.Discovery(served...)(ctx)
		},
	})
	f.limit = 3
	step := func(what string, overLimit, lines int, want string) {
		t.Helper()
		f.rediscover(t.Context())
		var got []string
		for _, i := range set.List() {
			got = append(got, i.Kind.Type())
		}
		slices.Sort(got)
		found := written.Find("too many resources")
		if names := strings.Join(got, " "); names != want || f.CountOverLimit() != overLimit || len(found) != lines {
			t.Errorf("%s: %s and %d over the limit, want %s and %d; log %+v", what, names, f.CountOverLimit(), want, overLimit, found)
		}
	}
	all := "pods widgets.d.example.com widgets.z.example.com"
	step("one too many", 1, 1, all)
	served = append(served, "a.example.com/v1/widgets")
	step("a new one, first by name", 2, 2, all)
	step("no change", 2, 2, all)
	if line := written.Find("too many resources", "limit", "3", "skipped", "2"); len(line) != 1 || line[0].Attrs["resources"] != "widgets.a.example.com,widgets.e.example.com" {
		t.Errorf("%+v", line)
	}
	f.limit = maxKinds
	step("room for all", 0, 2, "pods widgets.a.example.com widgets.d.example.com widgets.e.example.com widgets.z.example.com")
}
