package informers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
)

// A page that takes too much memory is halved until it fits, and larger pages are tried again with the next list.
func TestPagesAreHalved(t *testing.T) {
	var limits []int64
	fits := int64(0)
	list := func(_ context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		limits = append(limits, options.Limit)
		if options.ResourceVersion == "0" || options.Limit == 0 || options.Limit > fits { // the watch cache ignores limits
			return nil, fmt.Errorf("response: %w", client.ErrTooLarge)
		}
		return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: options.ResourceVersion, Continue: "next"}}, nil
	}
	var pages pageSize
	for _, step := range []struct {
		name    string
		fits    int64
		options metav1.ListOptions
		fails   bool
		version string
		limits  []int64
	}{
		{"from the watch cache", 500, metav1.ListOptions{ResourceVersion: "0", Limit: 500}, false, "", []int64{500, 500}},
		{"the next page", 500, metav1.ListOptions{Continue: "next"}, false, "", []int64{500}},
		{"an audit", 100, metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 1000}, false, "7", []int64{500, 250, 125, 62}},
		{"the next page of the audit", 100, metav1.ListOptions{Continue: "next", Limit: 1000}, false, "", []int64{62}},
		{"the next list", 100, metav1.ListOptions{Limit: 500}, false, "", []int64{124, 62}},
		{"one object that does not fit", 0, metav1.ListOptions{}, true, "", []int64{124, 62, 31, 15, 7, 3, 1}},
		{"after it is gone", 1000, metav1.ListOptions{}, false, "", []int64{2}},
	} {
		limits, fits = nil, step.fits
		page, err := listPage(t.Context(), &pages, untyped(list), step.options)
		if (err != nil) != step.fails || err == nil && page.(*metav1.PartialObjectMetadataList).ResourceVersion != step.version || !slices.Equal(limits, step.limits) {
			t.Errorf("%s: limits %v, error %v, %+v; want %v", step.name, limits, err, page, step.limits)
		}
	}
	for range 10 {
		fits = 1000
		if _, err := listPage(t.Context(), &pages, untyped(list), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strconv.FormatInt(pages.Load(), 10); got != "500" {
		t.Errorf("pages of %s objects, want 500", got)
	}
}

// A list is complete even if a continue token expires and all pages must be small.
func TestListsAreComplete(t *testing.T) {
	const objects, fits = 1200, 300
	expired := false
	list := func(_ context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		from, _ := strconv.Atoi(options.Continue) // 0 for the first page
		if from > 0 && !expired {
			expired = true
			return nil, apierrors.NewResourceExpired("the continue token is too old")
		}
		n := objects - from
		if options.Limit > 0 {
			n = min(n, int(options.Limit))
		}
		if n > fits {
			return nil, fmt.Errorf("response: %w", client.ErrTooLarge)
		}
		page := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, n)}
		if from+n < objects {
			page.Continue = strconv.Itoa(from + n)
		}
		return page, nil
	}
	var pages pageSize
	all, _, err := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return listPages(ctx, &pages, untyped(list), options)
	}).ListWithAlloc(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	accessor, err := meta.ListAccessor(all)
	if err != nil {
		t.Fatal(err)
	}
	if n := meta.LenList(all); n != objects || accessor.GetContinue() != "" || !expired {
		t.Errorf("%d objects of %d, continue %q, expired %v", n, objects, accessor.GetContinue(), expired)
	}
}
