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
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// cluster is a control plane with service accounts in a namespace of the test.
type cluster struct {
	*testing.T
	plane     *stack.ControlPlane
	namespace string
}

func newCluster(t *testing.T, plane *stack.ControlPlane) cluster {
	t.Helper()
	return cluster{T: t, plane: plane, namespace: stacktest.NamespaceIn(t, plane.Config())}
}

// account creates a service account that may get the paths.
func (c cluster) account(name string, paths ...string) *stacktest.Account {
	c.Helper()
	account := stacktest.NewAccount(c, c.plane, c.namespace, name)
	if len(paths) > 0 {
		account.Grant(c, "", rbacv1.PolicyRule{NonResourceURLs: paths, Verbs: []string{"get"}})
	}
	return account
}

// token creates a service account that may get the paths and returns its token.
func (c cluster) token(name string, paths ...string) string {
	c.Helper()
	return c.account(name, paths...).Config.BearerToken
}

// reviewer returns a configuration with the permissions that New needs.
func (c cluster) reviewer() *rest.Config {
	c.Helper()
	account := c.account("reviewer")
	account.Bind(c, "system:auth-delegator")
	account.AwaitAllowed(c, authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Group: "authentication.k8s.io", Resource: "tokenreviews", Verb: "create",
	}})
	return account.Config
}

// resign returns the token with another expiry, signed with the API server's own key.
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
