package objects

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// realSchemas returns Schemas of the shared API server.
func realSchemas(t *testing.T) *Schemas {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(stacktest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return NewSchemas(client.RESTClient(), nil)
}

// observedByDefault matches the OpenAPI documents of a real API server.
func TestDescriptionsOfTheServer(t *testing.T) {
	t.Parallel()
	schemas := realSchemas(t)
	client, err := discovery.NewDiscoveryClientForConfig(stacktest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		if gv.Group == testGroup {
			continue // of another test
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "watch") {
				continue
			}
			asked++
			gvr := gv.WithResource(r.Name)
			observed, err := schemas.Observed(t.Context(), gvr)
			if err != nil {
				t.Fatal(err)
			}
			byDefault := observedByDefault[gvr.GroupResource()]
			if observed && !byDefault {
				t.Logf("%s has the field as well", gvr)
			}
			if byDefault && !observed {
				t.Errorf("%s does not have the field", gvr)
			}
			if has, err := schemas.HasStatus(t.Context(), gvr); err != nil || observed && !has {
				t.Errorf("%s: status %v, %v", gvr, has, err)
			}
		}
	}
	if asked < 30 || len(schemas.read) > asked {
		t.Errorf("%d resources, %d descriptions", asked, len(schemas.read))
	}
	for gvr, want := range map[schema.GroupVersionResource]bool{
		{Version: "v1", Resource: "nodes"}:                                          false,
		{Version: "v1", Resource: "secrets"}:                                        false,
		{Version: "v1", Resource: "configmaps"}:                                     false,
		{Group: "apps", Version: "v1", Resource: "deployments"}:                     true,
		{Group: "batch", Version: "v1", Resource: "jobs"}:                           false,
		{Group: "apps", Version: "v1", Resource: "nonsense"}:                        false,
		{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}: true,
	} {
		if got, err := schemas.Observed(t.Context(), gvr); err != nil || got != want {
			t.Errorf("%s: %v, %v", gvr, got, err)
		}
	}
	if observed, err := schemas.Observed(t.Context(), schema.GroupVersionResource{Group: "nonsense.example.com", Version: "v1", Resource: "x"}); observed || !errors.Is(err, ErrUndescribed) || schemas.read[schema.GroupVersion{Group: "nonsense.example.com", Version: "v1"}].failure.err != nil {
		t.Errorf("a group without a document: %v, %v", observed, err)
	}
}

const testGroup = "objects.example.com"

var gadgets = schema.GroupVersionResource{Group: testGroup, Version: "v1", Resource: "gadgets"}

// gadgetDefinition defines a resource with a status.observedGeneration of the given type.
func gadgetDefinition(generation string) *unstructured.Unstructured {
	return stack.Definition(testGroup, "Gadget", stack.Version{
		Name: "v1", Status: map[string]any{"observedGeneration": map[string]any{"type": generation}},
		Subresources: map[string]any{"status": map[string]any{}},
	})
}

// The field of a CustomResourceDefinition is used if it is an integer, even if it is added later.
func TestDescriptionOfADefinition(t *testing.T) {
	t.Parallel()
	schemas := realSchemas(t)
	definition := gadgetDefinition("string")
	stacktest.Define(t, stacktest.Config(t), definition)
	crds := dynamic.NewForConfigOrDie(stacktest.Config(t)).Resource(stack.Definitions)
	await.True(t, "a description without the field", func() bool {
		observed, err := schemas.Observed(t.Context(), gadgets)
		if observed {
			t.Fatal("a string counts as a generation")
		}
		return err == nil
	})
	with := gadgetDefinition("integer")
	await.True(t, "the field", func() bool {
		current, err := crds.Get(t.Context(), definition.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		with.SetResourceVersion(current.GetResourceVersion())
		_, err = crds.Update(t.Context(), with, metav1.UpdateOptions{})
		return err == nil
	})
	await.True(t, "a description with the field", func() bool {
		schemas.indexed = schemas.indexed.Add(-indexAge) // as if it were a minute old
		observed, err := schemas.Observed(t.Context(), gadgets)
		return err == nil && observed
	})
	if n := len(schemas.read); n != 1 {
		t.Errorf("%d documents of one group and version are remembered", n)
	}
}

// failing is a server without documents that counts requests.
type failing struct{ asked int }

func (f *failing) index(context.Context) (map[string]string, error) {
	f.asked++
	return nil, errors.New("not today")
}

func (f *failing) get(context.Context, string) (io.ReadCloser, error) { panic("unreachable") }

// Without documents, the defaults apply, and no requests are sent for some time.
func TestServerWithoutDescriptions(t *testing.T) {
	server := &failing{}
	schemas := newSchemas(server, nil)
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	for r, want := range map[schema.GroupVersionResource]bool{
		deployments: true, {Version: "v1", Resource: "pods"}: false, gadgets: false,
	} {
		if got, err := schemas.Observed(t.Context(), r); err == nil || got != want {
			t.Errorf("%s: %v, %v", r, got, err)
		}
	}
	if server.asked != 1 {
		t.Errorf("asked %d times", server.asked)
	}
	for r := range observedByDefault {
		if got, err := schemas.Observed(t.Context(), r.WithVersion("v1")); err == nil || !got {
			t.Errorf("%s: %v, %v", r, got, err)
		}
	}
	if server.asked != 1 {
		t.Errorf("asked %d times in half a minute", server.asked)
	}
	schemas.unlisted.at = schemas.unlisted.at.Add(-retryAfter)
	if _, err := schemas.Observed(t.Context(), deployments); err == nil || server.asked != 2 {
		t.Errorf("asked %d times half a minute later: %v", server.asked, err)
	}
}

// Nothing is requested for Secrets and ConfigMaps. Resources of other groups may have their names.
func TestNeverReadAsAWhole(t *testing.T) {
	server := &failing{}
	schemas := newSchemas(server, nil)
	for _, resource := range []string{"secrets", "configmaps"} {
		if observed, err := schemas.Observed(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: resource}); observed || err != nil {
			t.Errorf("%s: %v, %v", resource, observed, err)
		}
	}
	if server.asked != 0 {
		t.Errorf("asked %d times", server.asked)
	}
	for asked, resource := range []string{"secrets", "configmaps"} {
		schemas := newSchemas(server, nil)
		if _, err := schemas.Observed(t.Context(), gadgets.GroupVersion().WithResource(resource)); err == nil || server.asked != asked+1 {
			t.Errorf("%s of another group: %v, asked %d times", resource, err, server.asked)
		}
	}
}

// The status of a type may be a reference, as in the types of Kubernetes. Only an integer counts.
func TestReferencedStatus(t *testing.T) {
	for status, want := range map[string]bool{
		`{"observedGeneration": {"type": "integer"}}`: true,
		`{"observedGeneration": {"type": "string"}}`:  false,
		`{"phase": {"type": "string"}}`:               false,
	} {
		for _, reference := range []string{`"$ref": "#/components/schemas/GadgetStatus"`, `"allOf": [{"$ref": "#/components/schemas/GadgetStatus"}]`} {
			described, err := readDocument(strings.NewReader(`{
				"paths": {"/gadgets": {"get": {"x-kubernetes-action": "list", "x-kubernetes-group-version-kind": {"kind": "Gadget"}}}},
				"components": {"schemas": {
					"Gadget": {"x-kubernetes-group-version-kind": [{"kind": "Gadget"}], "properties": {"status": {` + reference + `}}},
					"GadgetStatus": {"properties": ` + status + `}
				}}
			}`))
			if err != nil || described["gadgets"] != (facts{true, want}) {
				t.Errorf("%s of %s: %v, %v", reference, status, described, err)
			}
		}
	}
}

// hasty is a server that calls leave during a request.
type hasty struct {
	asked  int
	leave  func() // may be nil
	answer error
}

func (h *hasty) index(ctx context.Context) (map[string]string, error) {
	h.asked++
	if h.leave != nil {
		h.leave()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // as an HTTP client does
	}
	return map[string]string{"apis/" + gadgets.GroupVersion().String(): "/gadgets"}, h.answer
}

// get returns a document in which gadgets have the field.
func (h *hasty) get(ctx context.Context, _ string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(`{
		"paths": {"/gadgets": {"get": {"x-kubernetes-action": "list", "x-kubernetes-group-version-kind": {"kind": "Gadget"}}}},
		"components": {"schemas": {"Gadget": {
			"x-kubernetes-group-version-kind": [{"kind": "Gadget"}],
			"properties": {"status": {"properties": {"observedGeneration": {"type": "integer"}}}}
		}}}
	}`)), ctx.Err()
}

// A canceled caller returns immediately and does not affect other callers. A request that it has started is not canceled.
func TestCanceledCaller(t *testing.T) {
	failure := errors.New("reset by peer")
	for _, c := range []struct {
		name   string
		before bool
		answer error
	}{
		{name: "before", before: true},
		{name: "during"},
		{name: "failing", answer: failure},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			asked, answer := make(chan struct{}), make(chan struct{})
			server := &hasty{leave: func() {
				close(asked)
				<-answer
			}, answer: c.answer}
			schemas := newSchemas(server, nil)
			go func() {
				if !c.before {
					<-asked
				}
				cancel()
			}()
			if c.before {
				<-ctx.Done()
			}
			if observed, err := schemas.Observed(ctx, gadgets); !errors.Is(err, context.Canceled) || observed {
				t.Errorf("the canceled caller: %v, %v", observed, err)
			}
			close(answer)
			if c.before {
				server.leave = nil
			}
			if observed, err := schemas.Observed(t.Context(), gadgets); !errors.Is(err, c.answer) || observed != (c.answer == nil) {
				t.Errorf("the next caller: %v, %v", observed, err)
			}
			if server.asked != 1 {
				t.Errorf("asked %d times, want once", server.asked)
			}
		})
	}
}

// partial is a server that fails or hangs for one document.
type partial struct {
	hasty
	hangs chan struct{} // closed to let it fail
}

func (p *partial) index(context.Context) (map[string]string, error) {
	return map[string]string{"apis/bad.example.com/v1": "/bad", "apis/" + gadgets.GroupVersion().String(): "/gadgets"}, nil
}

func (p *partial) get(ctx context.Context, address string) (io.ReadCloser, error) {
	if address == "/bad" {
		p.asked++
		<-p.hangs
		return io.NopCloser(strings.NewReader("{")), nil
	}
	return p.hasty.get(ctx, address)
}

// A document that cannot be read has no effect on other groups, and is requested again later.
func TestOneBadDocument(t *testing.T) {
	server := &partial{hangs: make(chan struct{})}
	close(server.hangs)
	schemas := newSchemas(server, nil)
	bad := schema.GroupVersionResource{Group: "bad.example.com", Version: "v1", Resource: "things"}
	for range 2 {
		if _, err := schemas.Observed(t.Context(), bad); err == nil {
			t.Error("a document that is not JSON is accepted")
		}
		if observed, err := schemas.Observed(t.Context(), gadgets); err != nil || !observed {
			t.Errorf("another group: %v, %v", observed, err)
		}
	}
	if server.asked != 1 {
		t.Errorf("asked %d times for the bad document immediately", server.asked)
	}
	late := schemas.read[bad.GroupVersion()]
	late.failure.at = late.failure.at.Add(-retryAfter)
	schemas.read[bad.GroupVersion()] = late
	if _, err := schemas.Observed(t.Context(), bad); err == nil || server.asked != 2 {
		t.Errorf("asked %d times half a minute later: %v", server.asked, err)
	}
}

// While a document does not arrive, known ones are available, and callers return when their contexts end.
func TestHangingDocument(t *testing.T) {
	server := &partial{hangs: make(chan struct{})}
	schemas := newSchemas(server, nil)
	if observed, err := schemas.Observed(t.Context(), gadgets); err != nil || !observed {
		t.Fatalf("%v, %v", observed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := schemas.Observed(ctx, schema.GroupVersionResource{Group: "bad.example.com", Version: "v1", Resource: "things"})
		left <- err
	}()
	await.True(t, "the request", func() bool { return len(schemas.turn) == 1 })
	if observed, err := schemas.Observed(t.Context(), gadgets); err != nil || !observed {
		t.Errorf("a known document: %v, %v", observed, err)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller left with %v", err)
	}
	close(server.hangs)
	await.True(t, "the end of the request", func() bool { return len(schemas.turn) == 0 })
}

// changing is a server with documents that are added and removed.
type changing struct {
	hasty
	groups []string
	err    error
}

func (c *changing) index(context.Context) (map[string]string, error) {
	if c.err != nil {
		return nil, c.err
	}
	index := map[string]string{}
	for _, group := range c.groups {
		index["apis/"+group+"/v1"] = "/" + group + "?hash=1"
	}
	return index, nil
}

func (c *changing) get(ctx context.Context, address string) (io.ReadCloser, error) {
	if address == "/panic?hash=1" {
		panic("test")
	}
	return c.hasty.get(ctx, address)
}

// Groups that no longer exist are forgotten, and a panic affects only its own group.
func TestForgetsGroups(t *testing.T) {
	server := &changing{groups: []string{"a", "panic"}}
	schemas := newSchemas(server, nil)
	if _, err := schemas.Observed(t.Context(), schema.GroupVersionResource{Group: "a", Version: "v1", Resource: "gadgets"}); err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.Observed(t.Context(), schema.GroupVersionResource{Group: "panic", Version: "v1", Resource: "x"}); err == nil || !strings.Contains(err.Error(), "test") {
		t.Errorf("got %v, want the panic", err)
	}
	v1 := func(group string) schema.GroupVersion { return schema.GroupVersion{Group: group, Version: "v1"} }
	if len(schemas.read) != 2 || schemas.read[v1("a")].resources == nil || schemas.read[v1("panic")].failure.err == nil {
		t.Fatalf("known: %v", schemas.read)
	}
	server.groups = []string{"b"}
	schemas.indexed = schemas.indexed.Add(-2 * indexAge)
	if _, err := schemas.Observed(t.Context(), schema.GroupVersionResource{Group: "b", Version: "v1", Resource: "gadgets"}); err != nil {
		t.Fatal(err)
	}
	if b := schemas.read[v1("b")]; len(schemas.read) != 1 || b.address != "/b?hash=1" || b.resources == nil || b.failure.err != nil {
		t.Errorf("known: %v; want only b", schemas.read)
	}
}

// A failure is logged once for all resources, when it starts and when it ends.
func TestFailuresAreLoggedOnce(t *testing.T) {
	var written logtest.Recorder
	server := &changing{groups: []string{"a", "b", "panic"}}
	schemas := newSchemas(server, written.Logger())
	ask := func(groups ...string) {
		for _, group := range groups {
			for _, resource := range []string{"gadgets", "others"} {
				_, _ = schemas.Observed(t.Context(), schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
			}
		}
	}
	want := func(what string, failed, again int) {
		t.Helper()
		if f, a := len(written.Find("cannot read the OpenAPI document")), len(written.Find("can be read again")); f != failed || a != again {
			t.Errorf("%s: %d failures and %d recoveries, want %d and %d: %v", what, f, a, failed, again, written.Find(""))
		}
	}
	server.err = errors.New("not today")
	for range 3 {
		ask("a", "b")
		schemas.unlisted.at = schemas.unlisted.at.Add(-retryAfter)
	}
	want("without an index", 1, 0)
	server.err = nil
	ask("a", "b")
	want("with an index", 1, 1)
	ask("panic")
	want("a bad document", 2, 1)
}
