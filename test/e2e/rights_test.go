package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// verbs are all verbs of Kubernetes, and an unknown one: permission for it means permission for everything.
var verbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind", "escalate", "impersonate", "nosuchverb",
}

// TestRightsAreJustEnough checks every verb on every resource and subresource with the service account of the
// manifests. Beyond any other service account, it may only list and watch the default resources.
func TestRightsAreJustEnough(t *testing.T) {
	c := theChain(t)
	admin := c.ControlPlane.Config()
	applyBase(t, admin)
	const unprivileged = "unprivileged"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: unprivileged + "-"}}
	account, err := kubernetes.NewForConfigOrDie(admin).CoreV1().ServiceAccounts(manifestNamespace).Create(t.Context(), account, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	requests := allRequests(t, admin)
	if len(requests) < 500 {
		t.Fatalf("only %d requests to check", len(requests))
	}
	rights := map[string][]string{}
	for _, name := range []string{account.Name, "informer-exporter"} {
		config, err := c.ControlPlane.ServiceAccountConfig(t.Context(), manifestNamespace, name)
		if err != nil {
			t.Fatal(err)
		}
		rights[name] = allowed(t, config, requests)
	}
	var want []string
	for _, k := range kinds.Default() {
		want = append(want, "list "+k.Type(), "watch "+k.Type())
	}
	slices.Sort(want)
	if got := minus(rights["informer-exporter"], rights[account.Name]); !slices.Equal(got, want) {
		t.Errorf("unneeded permissions: %q\nmissing permissions: %q", minus(got, want), minus(want, got))
	}
	t.Logf("%d of %d requests are allowed; any service account may: %q", len(want), len(requests), rights[account.Name])

	// The same check finds an administrator's permissions.
	if got := allowed(t, admin, requests); len(got) != len(requests) {
		t.Errorf("the administrator may do only %d of %d", len(got), len(requests))
	}
}

// allRequests returns each verb on each resource and subresource of the server. Requests for namespaced resources are
// for the namespace of the manifests, where a Role would count as well.
func allRequests(t *testing.T, admin *rest.Config) (requests []authorizationv1.ResourceAttributes) {
	t.Helper()
	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(admin).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			resource, sub, _ := strings.Cut(r.Name, "/")
			request := authorizationv1.ResourceAttributes{Group: version.Group, Resource: resource, Subresource: sub}
			if r.Namespaced {
				request.Namespace = manifestNamespace
			}
			for _, request.Verb = range verbs {
				if !slices.Contains(requests, request) { // another version of the same resource
					requests = append(requests, request)
				}
			}
		}
	}
	return requests
}

// allowed returns the requests that the server would allow, sorted.
func allowed(t *testing.T, config *rest.Config, requests []authorizationv1.ResourceAttributes) (granted []string) {
	t.Helper()
	config.QPS = -1
	reviews := kubernetes.NewForConfigOrDie(config).AuthorizationV1().SelfSubjectAccessReviews()
	var mu sync.Mutex
	var failed error
	var workers sync.WaitGroup
	for part := range slices.Chunk(requests, (len(requests)+7)/8) {
		workers.Go(func() {
			for _, request := range part {
				may, err := ask(t.Context(), reviews.Create, request)
				mu.Lock()
				if may {
					granted = append(granted, describe(request))
				}
				if err != nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	slices.Sort(granted)
	return granted
}

type createReview func(context.Context, *authorizationv1.SelfSubjectAccessReview, metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error)

func ask(ctx context.Context, create createReview, request authorizationv1.ResourceAttributes) (bool, error) {
	review, err := create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &request},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("%s: %w", describe(request), err)
	}
	return review.Status.Allowed, nil
}

// describe formats a request as "list deployments.apps" or "create pods/exec".
func describe(r authorizationv1.ResourceAttributes) string {
	text := r.Verb + " " + schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}
