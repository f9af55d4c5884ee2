package exporter

import (
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

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

// newLimited creates a service account in a namespace, without permissions.
func newLimited(t *testing.T, namespace string) *stacktest.Account {
	t.Helper()
	return stacktest.NewAccount(t, stacktest.ControlPlane(t), namespace, "limited")
}

// mayWatch returns a rule that allows listing and watching resources.
func mayWatch(resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"list", "watch"}}
}

// kubectl runs kubectl with the credentials of config.
func kubectl(t *testing.T, config *rest.Config, stdin string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "kubectl", append([]string{"--kubeconfig", stacktest.Kubeconfig(t, config)}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
