package stacktest

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Account is a service account.
type Account struct {
	Namespace, Name string
	// Config authenticates as the account.
	Config *rest.Config

	admin kubernetes.Interface
}

// NewAccount creates a service account without permissions.
func NewAccount(t testing.TB, plane *stack.ControlPlane, namespace, name string) *Account {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	accounts := kubernetes.NewForConfigOrDie(plane.Config()).CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return GetAccount(t, plane, namespace, name)
}

// GetAccount returns an existing service account.
func GetAccount(t testing.TB, plane *stack.ControlPlane, namespace, name string) *Account {
	t.Helper()
	config, err := plane.ServiceAccountConfig(t.Context(), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return &Account{Namespace: namespace, Name: name, Config: config, admin: kubernetes.NewForConfigOrDie(plane.Config())}
}

// User returns the name under which the API server knows the account.
func (a *Account) User() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

// Grant binds rules to the account, in the namespace scope or, if scope is empty, in the whole cluster, and waits until they
// take effect.
func (a *Account) Grant(t testing.TB, scope string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{GenerateName: a.Name + "-", Namespace: scope}
	if scope == "" {
		role, err := a.admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a.Bind(t, role.Name)
	} else {
		role, err := a.admin.RbacV1().Roles(scope).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: a.subjects(), RoleRef: roleRef("Role", role.Name)}
		if _, err := a.admin.RbacV1().RoleBindings(scope).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, rule := range rules {
		for _, review := range reviews(scope, rule) {
			a.AwaitAllowed(t, review)
		}
	}
}

// Bind binds a ClusterRole to the account in the whole cluster. Unlike Grant, it does not wait.
func (a *Account) Bind(t testing.TB, clusterRole string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: a.Name + "-"}, Subjects: a.subjects(), RoleRef: roleRef("ClusterRole", clusterRole),
	}
	if _, err := a.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// AwaitAllowed waits until the API server allows the account the access in spec. The API server receives roles and bindings through
// its own watches, and clients may cache a rejection for minutes.
func (a *Account) AwaitAllowed(t testing.TB, spec authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	await.NoError(t, a.User()+" is allowed "+spec.String(), func() error {
		allowed, err := a.Allowed(t, spec)
		if err == nil && !allowed {
			err = errors.New("denied")
		}
		return err
	})
}

// Allowed reports whether the API server allows the account the access in spec.
func (a *Account) Allowed(t testing.TB, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	t.Helper()
	spec.User = a.User()
	review, err := a.admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed, err
}

// Delete deletes the account, which revokes its tokens.
func (a *Account) Delete(t testing.TB) {
	t.Helper()
	if err := a.admin.CoreV1().ServiceAccounts(a.Namespace).Delete(t.Context(), a.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (a *Account) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.Namespace, Name: a.Name}}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// reviews returns the access reviews that cover everything that a rule allows in a namespace.
func reviews(scope string, rule rbacv1.PolicyRule) (specs []authorizationv1.SubjectAccessReviewSpec) {
	for _, verb := range rule.Verbs {
		for _, path := range rule.NonResourceURLs {
			specs = append(specs, authorizationv1.SubjectAccessReviewSpec{
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: strings.Replace(path, "*", "/", 1), Verb: verb},
			})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				attributes := authorizationv1.ResourceAttributes{Namespace: scope, Verb: verb, Group: group}
				attributes.Resource, attributes.Subresource, _ = strings.Cut(resource, "/")
				if len(rule.ResourceNames) > 0 {
					attributes.Name = rule.ResourceNames[0]
				}
				specs = append(specs, authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &attributes})
			}
		}
	}
	return specs
}

// Kubeconfig writes a configuration to a kubeconfig file of the test and returns its path.
func Kubeconfig(t testing.TB, config *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := stack.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return path
}
