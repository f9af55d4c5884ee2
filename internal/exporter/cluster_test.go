package exporter

import (
	"os/exec"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func createConfigMap(t *testing.T, config *rest.Config, namespace, name string) {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// limited is the service account of the tests that have few rights.
const limited = "limited"

// grant lets the service account limited list and watch resources of the core group in one namespace, or everywhere if that is
// empty.
func grant(t *testing.T, config *rest.Config, namespace, scope string, resources ...string) {
	t.Helper()
	grantRules(t, config, namespace, scope, rbacv1.PolicyRule{
		APIGroups: []string{"", "apiextensions.k8s.io", "example.com"}, Resources: resources, Verbs: []string{"list", "watch"},
	})
}

// grantRules grants the service account limited of a namespace some rules, in the namespace scope or everywhere, and waits
// until the API server has taken them in.
func grantRules(t *testing.T, config *rest.Config, namespace, scope string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	rbac := kubernetes.NewForConfigOrDie(config).RbacV1()
	name := metav1.ObjectMeta{GenerateName: limited + "-", Namespace: scope}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: limited}}
	var err error
	if scope == "" {
		var role *rbacv1.ClusterRole
		if role, err = rbac.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{}); err == nil {
			_, err = rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
				ObjectMeta: name, Subjects: subjects,
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			}, metav1.CreateOptions{})
		}
	} else {
		var role *rbacv1.Role
		if role, err = rbac.Roles(scope).Create(t.Context(), &rbacv1.Role{ObjectMeta: name, Rules: rules}, metav1.CreateOptions{}); err == nil {
			_, err = rbac.RoleBindings(scope).Create(t.Context(), &rbacv1.RoleBinding{
				ObjectMeta: name, Subjects: subjects,
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			}, metav1.CreateOptions{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) == 0 {
		return
	}
	last := rules[len(rules)-1]
	for _, verb := range last.Verbs {
		awaitAllowed(t, config, authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + namespace + ":" + limited,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: scope, Verb: verb, Group: last.APIGroups[0], Resource: last.Resources[0],
			},
		})
	}
}

// awaitAllowed waits until the API server allows something: it learns of bindings from a watch of its own, and what is found
// forbidden until then is left alone for minutes.
func awaitAllowed(t *testing.T, config *rest.Config, spec authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	reviews := kubernetes.NewForConfigOrDie(config).AuthorizationV1().SubjectAccessReviews()
	eventually(t, spec.User+" is allowed", func() bool {
		review, err := reviews.Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}, spec.String)
}

// newLimited creates the service account limited in a namespace and returns how to be it.
func newLimited(t *testing.T, namespace string) *rest.Config {
	t.Helper()
	_, err := kubernetes.NewForConfigOrDie(stacktest.Config(t)).CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: limited}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := stacktest.ControlPlane(t).ServiceAccountConfig(t.Context(), namespace, limited)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// kubectl runs kubectl as config.
func kubectl(t *testing.T, config *rest.Config, stdin string, args ...string) {
	t.Helper()
	path := t.TempDir() + "/kubeconfig"
	if err := stack.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "kubectl", append([]string{"--kubeconfig", path}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
