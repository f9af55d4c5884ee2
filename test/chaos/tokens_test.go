package chaos

import (
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// account creates a service account with rules. The returned function replaces the rules.
func (p *plane) account(t *testing.T, namespace string, rules ...rbacv1.PolicyRule) (grant func(...rbacv1.PolicyRule)) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(p.Config())
	stacktest.NewAccount(t, p.ControlPlane, namespace, "exporter")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "exporter"}, Rules: rules}
	if _, err := client.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "exporter"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: "exporter"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "exporter"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return func(rules ...rbacv1.PolicyRule) {
		t.Helper()
		role.Rules = rules
		if _, err := client.RbacV1().Roles(namespace).Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// mayWatch returns a rule that allows list and watch on resources of the core group.
func mayWatch(resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"list", "watch"}}
}

// token returns a token of the service account that is valid as long as a Secret exists.
func (p *plane) token(t *testing.T, namespace, secret string) string {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(p.Config()).CoreV1()
	bound, err := client.Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To[int64](3600),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: secret, UID: bound.UID},
	}}
	answer, err := client.ServiceAccounts(namespace).CreateToken(t.Context(), "exporter", request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Token
}

// The token in the exporter's file expires before it is replaced. client-go reads the file at most once a minute, and
// not sooner after a 401. In the long form, the watches end before it is replaced, and their retries back off.
func TestTokenExpired(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	plane.account(t, namespace, mayWatch("pods", "configmaps"))
	file := filepath.Join(t.TempDir(), "token")
	if err := replace(file, []byte(plane.token(t, namespace, "first"))); err != nil {
		t.Fatal(err)
	}
	proxy := plane.proxy(t)
	config := proxy.RESTConfig(plane.Config())
	config.BearerToken, config.BearerTokenFile = "", file
	p := start(t, stacktest.Kubeconfig(t, config), plane.Config(), watching(namespace, "pods", "configmaps"))
	before := p.figures()
	p.mark()
	since := p.log
	if err := kubernetes.NewForConfigOrDie(plane.Config()).CoreV1().Secrets(namespace).Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.refused()
	if long(t) {
		proxy.Reset()
		p.shutOut()
	}
	if err := replace(file, []byte(plane.token(t, namespace, "second"))); err != nil {
		t.Fatal(err)
	}
	plane.change(t, namespace)
	p.mark()
	p.well()
	p.quiet(since, 3)
	p.bounded(before)
}
