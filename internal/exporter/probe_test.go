package exporter

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
)

// What is forbidden is left out, and is not tried because the API server cannot tell at the moment. What was tried because it
// could not tell is left out when it does. Nothing runs here, so that the test has each step in its hands.
func TestProbesWithoutAnAnswer(t *testing.T) {
	e := newFake(t, Options{Config: Config{Resources: []Resource{{Name: "pods"}, {Name: "*.example.com"}}}})
	f := e.follower
	f.discover = fakeDiscovery("v1/pods", "example.com/v1/widgets")
	var answer error
	probes := 0
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme()) // for the probes alone
	client.PrependReactor("list", "widgets", func(clienttesting.Action) (bool, runtime.Object, error) {
		probes++
		if answer != nil {
			return true, nil, answer
		}
		return true, &metav1.List{}, nil
	})
	f.client = client
	var widgets *target
	step := func(what string, err error, asked, watched bool) {
		t.Helper()
		answer, probes = err, 0
		f.rediscover(t.Context())
		if (probes > 0) != asked {
			t.Errorf("%s: %d probes, want one: %t", what, probes, asked)
		}
		targets := e.targets.list()
		at := slices.IndexFunc(targets, func(t *target) bool { return t.name() == "widgets.example.com" })
		if (at >= 0) != watched || (f.countForbidden() == 0) != watched {
			t.Fatalf("%s: %d targets, %d kinds left out; want widgets watched: %t", what, len(targets), f.countForbidden(), watched)
		}
		if widgets = nil; watched {
			widgets = targets[at]
		} else if n := seriesOf(t, e.Gatherer(), "widgets.example.com"); n != 0 {
			t.Errorf("%s: %d series of widgets", what, n)
		}
	}
	unclear := []error{apierrors.NewServiceUnavailable("etcd is down"), errUnreachable, errThrottled, apierrors.NewUnauthorized("who?")}

	step("unclear from the start", unclear[0], true, true)
	step("pending", errForbidden, false, true)
	widgets.availability.listed(t.Context(), errForbidden)
	step("refused, and unclear", unclear[0], true, true)
	step("refused, and forbidden", errForbidden, true, false)
	step("known to be forbidden", nil, false, false)
	f.retryForbidden()
	for _, err := range unclear {
		step(fmt.Sprint("forbidden, and unclear: ", err), err, true, false)
	}
	step("allowed at last", nil, true, true)
	widgets.availability.opened()
	step("up", errForbidden, false, true)
	widgets.availability.listed(t.Context(), errForbidden)
	step("may be listed, and is refused as it may not be watched", nil, true, true)
	step("taken away", errForbidden, true, false)
	f.retryForbidden()
	step("vanishes while it is asked", errMissing, true, true)
}
