package cost_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/cost"
	"github.com/informer-exporter/informer-exporter/internal/exporter/discovery"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
)

// Lists grow with pages and informers, disabled checks send nothing, and the largest resource comes first.
func TestOf(t *testing.T) {
	informers := []cost.Informer{{Resource: "nodes"}, {Resource: "pods", Namespace: "a", Objects: 1000}, {Resource: "pods", Namespace: "b", Objects: 1001}}
	minute := configfile.Duration(time.Minute)
	e := cost.Of(config.Config{Checks: config.Checks{Audit: &minute, Freshness: &minute}}, informers)
	if e.Resources != 2 || e.Informers != 3 || e.Objects != 2001 || e.ByResource[0].Resource != "pods" || e.ByResource[0].Informers != 2 {
		t.Errorf("%+v", e)
	}
	if e.Requests.AuditLists != 4 || e.Requests.FreshnessChecks != 1 || e.Requests.WithoutBookmarks <= e.Requests.Total {
		t.Errorf("requests %+v", e.Requests)
	}
	never := configfile.Duration(0)
	quiet := cost.Of(config.Config{Checks: config.Checks{Audit: &never, Freshness: &never}}, informers).Requests
	if quiet.AuditLists != 0 || quiet.FreshnessChecks != 0 || quiet.WithoutBookmarks != quiet.Watches+quiet.Discovery {
		t.Errorf("without checks %+v", quiet)
	}
}

// A forbidden resource that is named is estimated without objects, with a note. So are groups without discovery.
func TestForbidden(t *testing.T) {
	cluster, err := discovery.Look(t.Context(), exportertest.Discovery("v1/pods,secrets", "down:example.com/v1"))
	if err != nil {
		t.Fatal(err)
	}
	named := config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "secrets"}}}
	informers, notes, err := cost.NewCounter(exportertest.MetadataClient(t)).Informers(t.Context(), cluster, named)
	if err != nil || len(informers) != 2 || informers[0].Objects != 2 || !strings.Contains(strings.Join(notes, "\n"), "secrets") || !strings.Contains(strings.Join(notes, "\n"), "example.com") {
		t.Errorf("%+v, notes %q, error %v", informers, notes, err)
	}
	client := exportertest.MetadataClient(t)
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		page := &metav1.List{ListMeta: metav1.ListMeta{Continue: "more"}}
		page.Items = append(page.Items, runtime.RawExtension{Object: &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}})
		return true, page, nil
	})
	informers, notes, err = cost.NewCounter(client).Informers(t.Context(), cluster, config.Config{Resources: []config.Resource{{Name: "pods"}}, Histograms: config.HistogramsNative})
	if all := strings.Join(notes, "\n"); err != nil || len(informers) != 1 || !strings.Contains(all, "objects of pods are not counted") || !strings.Contains(all, "histograms: native") {
		t.Errorf("with an unknown number of objects: %+v, notes %q, error %v", informers, notes, err)
	}
	alone := config.Config{Resources: []config.Resource{{Name: "secrets"}}}
	if _, _, err := cost.NewCounter(exportertest.MetadataClient(t)).Informers(t.Context(), cluster, alone); err == nil {
		t.Error("no error, although nothing can be listed")
	}
}
