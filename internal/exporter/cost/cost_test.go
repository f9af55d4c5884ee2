package cost_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
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
	if quiet.AuditLists != 0 || quiet.FreshnessChecks != 0 || quiet.WatchCacheLists != 2 || math.Abs(quiet.WithoutBookmarks-quiet.Watches-quiet.WatchCacheLists-quiet.Discovery) > 1e-9 {
		t.Errorf("without checks %+v", quiet)
	}
}

// A forbidden resource that is named is estimated without objects, with a note. Groups for which discovery failed have a note, too.
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

// The total is the cost without informers plus that of each resource. Equally large resources are sorted by name.
func TestSums(t *testing.T) {
	informers := []cost.Informer{{Resource: "b", Objects: 10}, {Resource: "a", Objects: 10}, {Resource: "c", Namespace: "x", Objects: 2500}, {Resource: "c", Namespace: "y"}}
	for _, c := range []config.Config{{}, {Detail: config.DetailEssential}} {
		none, e := cost.Of(c, nil), cost.Of(c, informers)
		series, memory, lists, objects := none.Series, none.MemoryBytes, 0., int64(0)
		var names []string
		for _, r := range e.ByResource {
			if r.Series <= 0 || r.MemoryBytes < 100<<10 || r.AuditLists <= 0 {
				t.Errorf("a resource without a cost: %+v", r)
			}
			series, memory, lists, objects = series+r.Series, memory+r.MemoryBytes, lists+r.AuditLists, objects+r.Objects
			names = append(names, r.Resource)
		}
		if e.Series != series || e.MemoryBytes != memory || math.Abs(e.Requests.AuditLists-lists) > 1e-9 || e.Objects != objects || e.ByResource[0].Series != 2*e.ByResource[1].Series {
			t.Errorf("%+v, want the sum of its parts", e)
		}
		if strings.Join(names, "") != "cab" {
			t.Errorf("in the order %v", names)
		}
		if none.MemoryBytes < 10<<20 || none.MemoryBytes > 100<<20 {
			t.Errorf("an exporter without informers uses %d bytes", none.MemoryBytes)
		}
		r := e.Requests
		if r.Discovery <= 0 || r.Discovery != none.Requests.Discovery || none.Requests.WatchCacheLists != 0 || math.Abs(r.Total-r.Watches-r.FreshnessChecks-r.AuditLists-r.WatchCacheLists-r.Discovery) > 1e-9 {
			t.Errorf("%+v", r)
		}
		if each := r.Watches / 4; math.Abs(each-1/7.5) > 1e-9 { // client-go requests a timeout of 5 to 10 minutes
			t.Errorf("%v watches per minute of an informer", each)
		}
	}
	full, essential := cost.Of(config.Config{}, informers), cost.Of(config.Config{Detail: config.DetailEssential}, informers)
	if essential.Series >= full.Series || essential.MemoryBytes != full.MemoryBytes {
		t.Errorf("essential: %+v, full: %+v", essential, full)
	}
}

// Informers of one page are audited every two minutes, as long as that is at most ten lists a minute.
func TestSmallInformersAreAuditedMoreOften(t *testing.T) {
	hour, half := configfile.Duration(time.Hour), configfile.Duration(30*time.Second)
	for _, c := range []struct {
		small, large int
		audit        *configfile.Duration
		want         float64
	}{
		{small: 1, want: .5}, {small: 20, want: 10}, {small: 50, want: 10}, {small: 100, want: 10}, {small: 200, want: 20},
		{large: 2, want: .6}, {small: 10, large: 2, want: 5.6}, {small: 2, audit: &hour, want: 2. / 12}, {small: 2, audit: &half, want: 4},
	} {
		var informers []cost.Informer
		for n := range c.small + c.large {
			i := cost.Informer{Resource: "a", Objects: 500}
			if n >= c.small {
				i.Objects = 2001
			}
			informers = append(informers, i)
		}
		e := cost.Of(config.Config{Checks: config.Checks{Audit: c.audit}}, informers)
		if lists := e.Requests.AuditLists; math.Abs(lists-c.want) > 1e-9 {
			t.Errorf("%d informers of 500 objects and %d of 2001: %v lists per minute, want %v", c.small, c.large, lists, c.want)
		}
	}
}

// silent is a client of an API server that does not respond.
type silent struct {
	metadata.Interface
	metadata.Getter
}

func (s silent) Resource(schema.GroupVersionResource) metadata.Getter { return s }

func (s silent) Namespace(string) metadata.ResourceInterface { return s }

func (s silent) List(ctx context.Context, _ metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A request without a response ends after half a minute.
func TestTimeout(t *testing.T) {
	cluster, err := discovery.Look(t.Context(), exportertest.Discovery("v1/pods"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		_, _, err := cost.NewCounter(silent{}).Informers(t.Context(), cluster, config.Config{Resources: []config.Resource{{Name: "pods"}}})
		if took := time.Since(started); !errors.Is(err, context.DeadlineExceeded) || took != 30*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// Forbidden resources that only a pattern selects are left out, with a note. Counts are cached.
func TestForbiddenPattern(t *testing.T) {
	cluster, err := discovery.Look(t.Context(), exportertest.Discovery("v1/pods", "example.com/v1/widgets"))
	if err != nil {
		t.Fatal(err)
	}
	client := exportertest.MetadataClient(t)
	requests := 0
	client.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		requests++
		resource := action.GetResource().GroupResource()
		return resource.Resource == "widgets", nil, apierrors.NewForbidden(resource, "", errors.New("no"))
	})
	counter := cost.NewCounter(client)
	for range 2 {
		informers, notes, err := counter.Informers(t.Context(), cluster, config.Config{Resources: []config.Resource{{Name: "*"}}, LabelSelector: "a=b", Histograms: config.HistogramsBoth})
		if err != nil || len(informers) != 1 || informers[0] != (cost.Informer{Resource: "pods", Objects: 2}) || requests != 2 {
			t.Errorf("%+v after %d requests, error %v", informers, requests, err)
		}
		for i, want := range []string{"labelSelector is ignored", "histograms: both", "widgets.example.com is forbidden and left out"} {
			if len(notes) != 3 || !strings.Contains(notes[i], want) {
				t.Errorf("notes %q, want %q", notes, want)
				break
			}
		}
	}
}
