package kubeauth

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// cluster is a control plane with service accounts in a namespace of the test.
type cluster struct {
	*testing.T
	plane     *stack.ControlPlane
	client    kubernetes.Interface
	namespace string
}

func newCluster(t *testing.T, plane *stack.ControlPlane) cluster {
	t.Helper()
	c := cluster{T: t, plane: plane, client: kubernetes.NewForConfigOrDie(plane.Config())}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kubeauth-"}}
	namespace, err := c.client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.namespace = namespace.Name
	return c
}

// account creates a service account and returns how to be it.
func (c cluster) account(name string) *rest.Config {
	c.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.client.CoreV1().ServiceAccounts(c.namespace).Create(c.Context(), account, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
	config, err := c.plane.ServiceAccountConfig(c.Context(), c.namespace, name)
	if err != nil {
		c.Fatal(err)
	}
	return config
}

// bind gives an account a ClusterRole.
func (c cluster) bind(account, role string) {
	c.Helper()
	_, err := c.client.RbacV1().ClusterRoleBindings().Create(c.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubeauth-"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: c.namespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
}

// allow lets an account get a path.
func (c cluster) allow(account, path string) {
	c.Helper()
	role, err := c.client.RbacV1().ClusterRoles().Create(c.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubeauth-"},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{path}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	c.bind(account, role.Name)
	c.await(account, authorizationv1.SubjectAccessReviewSpec{NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"}})
}

// await waits until the API server has taken in what an account may do. Filters remember what they were told before.
func (c cluster) await(account string, spec authorizationv1.SubjectAccessReviewSpec) {
	c.Helper()
	spec.User = "system:serviceaccount:" + c.namespace + ":" + account
	deadline := time.Now().Add(90 * time.Second)
	for {
		review, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(c.Context(), &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		if err != nil || time.Now().After(deadline) {
			c.Fatalf("%+v is not allowed: %v", spec, err)
		}
		if review.Status.Allowed {
			return
		}
		time.Sleep(20 * time.Millisecond) // between two attempts, not instead of one
	}
}

// reviewer is a configuration with the rights that New asks for.
func (c cluster) reviewer() *rest.Config {
	c.Helper()
	config := c.account("reviewer")
	c.bind("reviewer", "system:auth-delegator")
	c.await("reviewer", authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create",
	}})
	return config
}

// resign returns a token with another time of expiry, signed by the API server's own key.
func (c cluster) resign(token string, expires time.Time) string {
	c.Helper()
	raw, err := os.ReadFile(filepath.Join(c.plane.Dir(), "service-accounts.key"))
	if err != nil {
		c.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		if key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
			c.Fatal(err)
		}
	}
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		c.Fatal(err)
	}
	claims["iat"], claims["nbf"], claims["exp"] = expires.Add(-2*time.Hour).Unix(), expires.Add(-2*time.Hour).Unix(), expires.Unix()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(key)
	if err != nil {
		c.Fatal(err)
	}
	return signed
}
