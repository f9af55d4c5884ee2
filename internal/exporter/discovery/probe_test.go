package discovery

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers/informerstest"
)

var (
	errNotAllowed   = apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "", errors.New("no"))
	errNotServed    = apierrors.NewNotFound(schema.GroupResource{Resource: "widgets"}, "")
	errTooMany      = apierrors.NewTooManyRequests("busy", 1)
	errNoConnection = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
)

// A forbidden kind is skipped, and stays skipped while the API server does not respond. A kind that is watched because the
// API server did not respond is skipped when it responds with 403. No goroutine runs, so that the test controls each step.
func TestProbesWithoutAnAnswer(t *testing.T) {
	registry := prometheus.NewRegistry()
	making := informerstest.NewFactory(t, registry)
	targets := informers.NewSet(making.New)
	var answer error
	probes := 0
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme()) // only for the probes
	client.PrependReactor("list", "widgets", func(clienttesting.Action) (bool, runtime.Object, error) {
		probes++
		if answer != nil {
			return true, nil, answer
		}
		return true, &metav1.List{}, nil
	})
	f := New(Options{
		Config:    config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "*.example.com"}}},
		Informers: targets, Client: client, Discover: exportertest.Discovery("v1/pods", "example.com/v1/widgets"), Logger: making.Logger,
	})
	var widgets *informers.Informer
	step := func(what string, err error, asked, watched bool) {
		t.Helper()
		answer, probes = err, 0
		f.rediscover(t.Context())
		if (probes > 0) != asked {
			t.Errorf("%s: %d probes, want one: %t", what, probes, asked)
		}
		list := targets.List()
		at := slices.IndexFunc(list, func(t *informers.Informer) bool { return t.Name() == "widgets.example.com" })
		if (at >= 0) != watched || (f.CountForbidden() == 0) != watched {
			t.Fatalf("%s: %d targets, %d kinds left out; want widgets watched: %t", what, len(list), f.CountForbidden(), watched)
		}
		if widgets = nil; watched {
			widgets = list[at]
		} else if n := exportertest.SeriesOf(t, registry, "widgets.example.com"); n != 0 {
			t.Errorf("%s: %d series of widgets", what, n)
		}
	}
	unclear := []error{apierrors.NewServiceUnavailable("etcd is down"), errNoConnection, errTooMany, apierrors.NewUnauthorized("who?")}

	step("unclear from the start", unclear[0], true, true)
	step("pending", errNotAllowed, false, true)
	widgets.Availability.Failed(t.Context(), errNotAllowed)
	step("refused, and unclear", unclear[0], true, true)
	step("refused, and forbidden", errNotAllowed, true, false)
	step("known to be forbidden", nil, false, false)
	f.retryForbidden()
	for _, err := range unclear {
		step(fmt.Sprint("forbidden, and unclear: ", err), err, true, false)
	}
	step("allowed at last", nil, true, true)
	widgets.Availability.Watched(t.Context(), metav1.ListOptions{}, nil)
	step("up", errNotAllowed, false, true)
	widgets.Availability.Failed(t.Context(), errNotAllowed)
	step("may be listed, and is refused as it may not be watched", nil, true, true)
	step("taken away", errNotAllowed, true, false)
	f.retryForbidden()
	step("vanishes while it is asked", errNotServed, true, true)
}
