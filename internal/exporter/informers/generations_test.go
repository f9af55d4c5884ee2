package informers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// The configuration determines which kinds are read as whole objects.
func TestContents(t *testing.T) {
	off := ptr.To(false)
	for _, c := range []struct {
		objects config.Objects
		kind    kinds.Kind
		want    content
	}{
		{config.Objects{}, kinds.Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, wholeLeases},
		{config.Objects{Leases: off}, kinds.Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, withGenerations},
		{config.Objects{Leases: off, Generations: off}, kinds.Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, onlyMetadata},
		{config.Objects{}, kinds.Kind{Group: "coordination.k8s.io", Version: "v1beta1", Resource: "leases"}, withGenerations},
		{config.Objects{}, kinds.Kind{Group: "apps", Version: "v1", Resource: "deployments"}, withGenerations},
		{config.Objects{Generations: off}, kinds.Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{config.Objects{WithoutGenerations: []string{"deployments.apps"}}, kinds.Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{config.Objects{WithoutGenerations: []string{"*.apps"}}, kinds.Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{config.Objects{}, kinds.Kind{Version: "v1", Resource: "pods"}, onlyMetadata},
		{config.Objects{}, kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, onlyMetadata},
		{config.Objects{WithoutGenerations: []string{}}, kinds.Kind{Version: "v1", Resource: "pods"}, withGenerations},
	} {
		if got := contentOf(c.objects, c.kind); got != c.want {
			t.Errorf("%+v, %v: %q, want %q", c.objects, c.kind, got, c.want)
		}
	}
}

// readMetadata and readWholly show which client served a request.
type (
	readMetadata struct{ metadata.ResourceInterface }
	readWholly   struct{ dynamic.ResourceInterface }
)

func (readMetadata) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "more metadata"}}, nil
}

func (readMetadata) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("metadata")
}

func (readWholly) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return &unstructured.UnstructuredList{}, nil
}

func (readWholly) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("whole")
}

// Whole objects are read if they have status.observedGeneration, which is checked on each relist. Audits never read them.
func TestWhatIsReadAsAWhole(t *testing.T) {
	collector, err := objects.New(prometheus.NewRegistry(), objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	described, missing, failure := true, 0, error(nil)
	g := &generationSource{
		kind: collector.NewHandler("things"), log: slog.New(slog.DiscardHandler), metadata: readMetadata{}, whole: readWholly{},
		observed: func(context.Context) (bool, error) {
			if missing > 0 {
				missing--
				return false, objects.ErrUndescribed
			}
			return described, failure
		},
	}
	list := func(options metav1.ListOptions) string {
		l, err := g.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%T", l)
	}
	watched := func(options metav1.ListOptions) string {
		_, err := g.Watch(t.Context(), options)
		return err.Error()
	}
	const wholeList, metadataList = "*unstructured.UnstructuredList", "*v1.PartialObjectMetadataList"
	streaming := metav1.ListOptions{SendInitialEvents: ptr.To(true)}
	for i, step := range []struct{ got, want string }{
		{watched(metav1.ListOptions{}), "metadata"}, // not checked yet
		{list(metav1.ListOptions{}), wholeList},
		{watched(metav1.ListOptions{}), "whole"},
		{list(metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact}), metadataList},
		{list(metav1.ListOptions{Continue: "more metadata"}), metadataList}, // of the audit
		{list(metav1.ListOptions{Continue: "more whole objects"}), wholeList},
	} {
		if step.got != step.want {
			t.Errorf("step %d: %s, want %s", i, step.got, step.want)
		}
	}
	described = false
	if got := watched(metav1.ListOptions{}); got != "whole" {
		t.Errorf("the watch after a list of whole objects: %s", got)
	}
	if got := watched(streaming); got != "metadata" {
		t.Errorf("without the field: %s", got)
	}
	described, missing = true, 1
	if got := watched(streaming); got != "whole" || missing != 0 {
		t.Errorf("described a moment later: %s", got)
	}

	// An unknown schema is checked again on the next watch. If the assumption was wrong, objects are listed again.
	described, failure = false, errors.New("a bad document")
	if got := watched(streaming); got != "metadata" {
		t.Errorf("without a document: %s", got)
	}
	if got := watched(metav1.ListOptions{}); got != "metadata" {
		t.Errorf("still without a document: %s", got)
	}
	described, failure = true, nil
	if _, err := g.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("the document can be read again: %v, want an error that makes the reflector relist", err)
	}
	if got := watched(streaming); got != "whole" {
		t.Errorf("listed again: %s", got)
	}
	described = false
	if got := watched(metav1.ListOptions{}); got != "whole" {
		t.Errorf("known already: %s", got)
	}
	failure = errors.New("a bad document")
	if got := watched(streaming); got != "metadata" {
		t.Errorf("without a document again: %s", got)
	}
	failure = nil
	if got := watched(metav1.ListOptions{}); got != "metadata" {
		t.Errorf("the document confirms it: %s", got)
	}
	described = true
	if got := watched(metav1.ListOptions{}); got != "metadata" {
		t.Errorf("confirmed already: %s", got)
	}
}

// An unknown schema is logged for each resource at level debug only: Schemas logs failures once for all.
func TestUnknownGenerationsAreLogged(t *testing.T) {
	collector, err := objects.New(prometheus.NewRegistry(), objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	failure := errors.New("reset by peer")
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
	}{
		{"a server that fails", t.Context(), failure},
		{"a server without a description", t.Context(), objects.ErrUndescribed},
		{"an informer that has ended", ended, failure},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(*testing.T) {
				var out strings.Builder
				g := &generationSource{
					kind: collector.NewHandler("things"), log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
					observed: func(context.Context) (bool, error) { return true, c.err },
				}
				g.decide(c.ctx)
				if !strings.Contains(out.String(), "level=DEBUG") || !g.reads.Load() {
					t.Errorf("whole objects: %t, log: %q", g.reads.Load(), out.String())
				}
			})
		})
	}
}
