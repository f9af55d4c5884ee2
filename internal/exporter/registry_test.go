package exporter

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// A kind that is watched in several namespaces is up if it is up in all of them, in any order.
func TestKindUpOfSeveralNamespaces(t *testing.T) {
	errForbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	for name, tc := range map[string]struct {
		errs []error
		want float64
	}{
		"all":         {[]error{nil, nil}, 1},
		"not the one": {[]error{errForbidden, nil}, 0},
		"nor other":   {[]error{nil, errForbidden}, 0},
		"none":        {[]error{errForbidden, errForbidden}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var targets []*informers.Informer
			for _, err := range tc.errs {
				a := availability.NewTracker(slog.New(slog.DiscardHandler))
				a.Watched(t.Context(), metav1.ListOptions{}, err)
				targets = append(targets, &informers.Informer{Spec: informers.Spec{Kind: kinds.Kind{Resource: "pods"}}, Availability: a})
			}
			if got := testutil.ToFloat64(newKindUp(func() []*informers.Informer { return targets })); got != tc.want {
				t.Errorf("kind_up is %v, want %v", got, tc.want)
			}
		})
	}
}
