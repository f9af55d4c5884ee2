package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// explained returns the last reconcile of n/a by the controller c, as its result and the class of its error.
func explained(o *core.Observer) string {
	e := inspection.Explanation{Namespace: "n", Object: "a"}
	for _, part := range core.PartsOf[inspection.Explainer](o) {
		part.Explain(&e)
	}
	e.Finish()
	if len(e.Queues) != 1 || e.Queues[0].Controller != "c" {
		return fmt.Sprintf("%+v", e.Queues)
	}
	r := e.Queues[0].LastReconcile
	if failed := len(e.Causes) == 1 && e.Causes[0].Cause == inspection.Failed; failed != r.Failed {
		return fmt.Sprintf("%s, but causes %v", r, e.Causes)
	}
	return r.String()
}

// The last reconcile of an object is remembered with its result, and the class of its error instead of its text.
func TestLastReconcile(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for want, c := range map[string]struct {
		result reconcileResult
		err    error
	}{
		"success":                {},
		"requeue_after":          {result: reconcileResult{RequeueAfter: 1}},
		"error (other)":          {err: errTest},
		"error (conflict)":       {err: fmt.Errorf("wrapped: %w", apierrors.NewConflict(pods, "a", errTest))},
		"error (already_exists)": {err: apierrors.NewAlreadyExists(pods, "a")},
		"error (invalid)":        {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", nil)},
		"error (forbidden)":      {err: apierrors.NewForbidden(pods, "a", errTest)},
		"error (timeout)":        {err: context.DeadlineExceeded},
		"error (canceled)":       {err: context.Canceled},
		"terminal (other)":       {err: errTerminal{errTest}},
	} {
		obs, _ := observertest.New(t)
		reconcile := controllers.NewReconciler(obs, "c", func(context.Context, types.NamespacedName) (reconcileResult, error) { return c.result, c.err }, controllers.Options{})
		_, _ = reconcile(t.Context(), types.NamespacedName{Namespace: "n", Name: "other"})
		if got := explained(core.Of(obs)); got != "[]" {
			t.Errorf("another object: %s", got)
		}
		_, _ = reconcile(t.Context(), types.NamespacedName{Namespace: "n", Name: "a"})
		if got := explained(core.Of(obs)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Requests that name an object by a key or by an embedded struct are found. Those with more fields name another object.
func TestRequestsOfLastReconciles(t *testing.T) {
	type key string
	type embedded struct{ types.NamespacedName }
	type other struct {
		Cluster string
		types.NamespacedName
	}
	type nested struct {
		Cluster struct{ Name string }
		types.NamespacedName
	}
	name := types.NamespacedName{Namespace: "n", Name: "a"}
	for request, c := range map[string]struct{ got, want string }{
		"key":             {lastOf(t, "n/a"), "success"},
		"type of a key":   {lastOf(t, key("n/a")), "success"},
		"embedded":        {lastOf(t, embedded{name}), "success"},
		"of a cluster":    {lastOf(t, other{"x", name}), "[]"},
		"nested cluster":  {lastOf(t, nested{NamespacedName: name}), "[]"},
		"pointer":         {lastOf(t, &name), "[]"},
		"function":        {lastOf(t, func() {}), "[]"},
		"of an interface": {lastOf[any](t, name), "[]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", request, c.got, c.want)
		}
	}
}

func lastOf[Req any](t *testing.T, request Req) string {
	t.Helper()
	obs, _ := observertest.New(t)
	if err := controllers.NewSyncHandler(obs, "c", func(context.Context, Req) error { return nil }, controllers.Options{})(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return explained(core.Of(obs))
}

// A panic is remembered, and so is an error with methods that panic.
func TestLastReconcileThatPanics(t *testing.T) {
	obs, _ := observertest.New(t)
	sync := controllers.NewSyncHandler(obs, "c", reconcileThatPanics, controllers.Options{})
	func() {
		defer func() { _ = recover() }()
		_ = sync(t.Context(), "n/a")
	}()
	if got := explained(core.Of(obs)); got != "panic" {
		t.Errorf("%q", got)
	}
	sync = controllers.NewSyncHandler(obs, "c", func(context.Context, string) error { return (*apierrors.StatusError)(nil) }, controllers.Options{})
	if err := sync(t.Context(), "n/a"); err == nil || errors.Is(err, errTest) {
		t.Error(err)
	}
	if got := explained(core.Of(obs)); got != "error (other)" {
		t.Errorf("%q", got)
	}
}

// The decorator does not allocate for an object that it remembers.
func TestLastReconcileDoesNotAllocate(t *testing.T) {
	obs, _ := observertest.New(t)
	reconcile := controllers.NewReconciler(obs, "c", func(context.Context, types.NamespacedName) (reconcileResult, error) { return reconcileResult{}, nil }, controllers.Options{})
	sync := controllers.NewSyncHandler(obs, "c", func(context.Context, string) error { return nil }, controllers.Options{})
	do := func() {
		_, _ = reconcile(t.Context(), types.NamespacedName{Namespace: "n", Name: "a"})
		_ = sync(t.Context(), "n/a")
	}
	do()
	if n := testing.AllocsPerRun(100, do); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
