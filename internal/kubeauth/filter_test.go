package kubeauth

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

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

// reviews counts what is asked of the API server.
type reviews struct {
	mu    sync.Mutex
	paths map[string]int
}

func (r *reviews) wrap(next http.RoundTripper) http.RoundTripper {
	return counting{next, r}
}

func (r *reviews) take() (tokens, access int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tokens, access = r.paths["/apis/authentication.k8s.io/v1/tokenreviews"], r.paths["/apis/authorization.k8s.io/v1/subjectaccessreviews"]
	clear(r.paths)
	return tokens, access
}

type counting struct {
	http.RoundTripper
	reviews *reviews
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.reviews.mu.Lock()
	c.reviews.paths[r.URL.Path]++
	c.reviews.mu.Unlock()
	return c.RoundTripper.RoundTrip(r)
}

// WrappedRoundTripper lets the filter find the connections that it closes.
func (c counting) WrappedRoundTripper() http.RoundTripper { return c.RoundTripper }

// protected is a handler behind a filter, and what the filter asks and logs.
type protected struct {
	*testing.T
	handler http.Handler
	asked   *reviews
	log     *strings.Builder
}

// The longest time that a test believes an answer for, and one that no test waits for.
const (
	short = time.Nanosecond
	long  = time.Hour
)

func protect(t *testing.T, config *rest.Config, token, allowed, denied time.Duration) protected {
	t.Helper()
	p := protected{T: t, asked: &reviews{paths: map[string]int{}}, log: &strings.Builder{}}
	config = rest.CopyConfig(config)
	config.Wrap(p.asked.wrap)
	f, err := newFilter(config, slog.New(slog.NewTextHandler(p.log, nil)), token, allowed, denied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	p.handler = f.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token is handed on")
		}
		w.WriteHeader(http.StatusOK)
	}))
	return p
}

func (p protected) get(path, token string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	return response
}

func (p protected) want(what, path, token string, status int) {
	p.Helper()
	if got := p.get(path, token).Code; got != status {
		p.Errorf("%s: GET %s: %d, want %d\n%s", what, path, got, status, p.log)
	}
}

// eventually waits for a status, for what the API server itself believes for some seconds.
func (p protected) eventually(what, path, token string, status int) {
	p.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for p.get(path, token).Code != status {
		if time.Now().After(deadline) {
			p.Fatalf("%s: no %d within 90 s\n%s", what, status, p.log)
		}
		time.Sleep(100 * time.Millisecond) // between two attempts, not instead of one
	}
}

func TestWhoMayReadWhat(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	stranger, scraper := c.account("stranger").BearerToken, c.account("scraper").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.reviewer(), long, long, long)

	for _, token := range []string{"", "garbage", "a.b.c", scraper + "x"} {
		p.want("not authenticated", "/metrics", token, http.StatusUnauthorized)
	}
	if got := p.get("/metrics", "").Header().Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("WWW-Authenticate is %q", got)
	}
	p.want("not authorized", "/metrics", stranger, http.StatusForbidden)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.want("authorized for another path", "/", scraper, http.StatusForbidden)
	p.want("authorized for another path", "/metrics/", scraper, http.StatusForbidden)
	// Every user may get /api/* of the API server, which says nothing about what is served here.
	for _, path := range []string{"/api/v1/informers", "/api", "/version", "/apis/x"} {
		p.want("what everybody may", path, stranger, http.StatusForbidden)
	}
	reader := c.account("reader").BearerToken
	c.allow("reader", "/")
	p.want("whoever may get the root", "/api/v1/informers", reader, http.StatusOK)
	p.want("whoever may get the root", "/metrics", reader, http.StatusForbidden)
	p.want("the administrator", "/whatever", stacktest.Config(t).BearerToken, http.StatusOK)

	request := httptest.NewRequest(http.MethodPost, "/metrics", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+scraper)
	response := httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if response.Code != http.StatusForbidden {
		t.Errorf("POST by one who may GET: %d, want 403", response.Code)
	}
	request = httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.SetBasicAuth("scraper", scraper)
	response = httptest.NewRecorder()
	p.handler.ServeHTTP(response, request)
	if response.Code != http.StatusUnauthorized {
		t.Errorf("the token as a password: %d, want 401", response.Code)
	}
	for _, token := range []string{stranger, scraper} {
		if strings.Contains(p.log.String(), token) {
			t.Error("a token is logged")
		}
	}
}

func TestAnswersAreCached(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper, stranger := c.account("scraper").BearerToken, c.account("stranger").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.reviewer(), long, long, long)
	for range 20 {
		p.want("authorized", "/metrics", scraper, http.StatusOK)
		p.want("not authorized", "/metrics", stranger, http.StatusForbidden)
	}
	if tokens, access := p.asked.take(); tokens != 2 || access != 2 {
		t.Errorf("%d TokenReviews and %d SubjectAccessReviews, want 2 and 2", tokens, access)
	}
	p.want("another path", "/", scraper, http.StatusForbidden)
	if tokens, access := p.asked.take(); tokens != 0 || access != 1 {
		t.Errorf("another path: %d TokenReviews and %d SubjectAccessReviews, want 0 and 1", tokens, access)
	}
}

// What is taken away does not work any more once the answer is no longer believed.
func TestRevoked(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	if err := c.client.CoreV1().ServiceAccounts(c.namespace).Delete(t.Context(), "scraper", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("its account is gone", "/metrics", scraper, http.StatusUnauthorized)
}

// A token with everything right but its time.
func TestExpiredToken(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.reviewer(), long, long, long)
	p.want("signed again", "/metrics", c.resign(scraper, time.Now().Add(time.Hour)), http.StatusOK)
	p.want("expired", "/metrics", c.resign(scraper, time.Now().Add(-time.Hour)), http.StatusUnauthorized)
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

// Without the API server, whoever was let in lately still is, and nobody else.
func TestOutage(t *testing.T) {
	c := newCluster(t, stacktest.Private(t, stack.Options{}))
	scraper, late := c.account("scraper").BearerToken, c.account("late").BearerToken
	c.allow("scraper", "/metrics")
	c.allow("late", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.want("not authorized", "/", scraper, http.StatusForbidden)

	if err := c.plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	p.asked.take()
	p.want("as before", "/metrics", scraper, http.StatusOK)
	if tokens, _ := p.asked.take(); tokens == 0 {
		t.Errorf("%d TokenReviews: the API server has not been asked", tokens)
	}
	p.want("never asked before", "/metrics", late, http.StatusServiceUnavailable)
	p.want("not allowed before", "/", scraper, http.StatusServiceUnavailable)
	p.want("no token", "/metrics", "", http.StatusUnauthorized)
	if n := strings.Count(p.log.String(), "cannot be asked"); n != 1 {
		t.Errorf("%d lines about the outage, want 1:\n%s", n, p.log)
	}

	if err := c.plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.eventually("after the outage", "/metrics", late, http.StatusOK)
}

// Without the right to ask, nobody gets in, and the log says what is missing.
func TestReviewerWithoutRights(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.account("powerless"), long, long, long)
	p.want("nobody may ask", "/metrics", scraper, http.StatusServiceUnavailable)
	for _, part := range []string{"system:auth-delegator", "tokenreviews.authentication.k8s.io is forbidden"} {
		if !strings.Contains(p.log.String(), part) {
			t.Errorf("the log does not have %q:\n%s", part, p.log)
		}
	}
}

// Somebody who invents tokens neither floods the API server nor locks out those who were let in.
func TestInventedTokens(t *testing.T) {
	c := newCluster(t, stacktest.ControlPlane(t))
	scraper := c.account("scraper").BearerToken
	c.allow("scraper", "/metrics")
	p := protect(t, c.reviewer(), short, short, short)
	p.want("authorized", "/metrics", scraper, http.StatusOK)
	p.asked.take()
	var statuses []int
	began := time.Now()
	for n := range 500 {
		statuses = append(statuses, p.get("/metrics", fmt.Sprint("invented-", n)).Code)
	}
	took := time.Since(began)
	if !slices.Contains(statuses, http.StatusTooManyRequests) || slices.Contains(statuses, http.StatusOK) {
		t.Errorf("statuses %v", statuses)
	}
	if tokens, _ := p.asked.take(); float64(tokens) > strangersBurst+strangersPerSecond*(took.Seconds()+1) {
		t.Errorf("%d TokenReviews in %v", tokens, took)
	}
	p.want("still authorized", "/metrics", scraper, http.StatusOK)
}
