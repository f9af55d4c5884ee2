//go:build unix

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func client(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/none"}}},
	}
}

func TestBareControlPlane(t *testing.T) {
	plane := stacktest.ControlPlane(t)
	if again := stacktest.ControlPlane(t); again != plane {
		t.Error("a second control plane for the same test binary")
	}
	c := client(t, stacktest.Config(t))
	ns := stacktest.Namespace(t)

	version, err := c.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("KUBEBUILDER_ASSETS") == "" && version.GitVersion != "v1.37.2" {
		t.Errorf("the API server reports the version %s, so its build lacks the version stamp", version.GitVersion)
	}
	if minor := os.Getenv("API_SERVER"); minor != "" && !strings.HasPrefix(version.GitVersion, "v"+minor+".") {
		t.Errorf("make compat tests the API server %s, but %s is running", minor, version.GitVersion)
	}
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod(ns, "p"), metav1.CreateOptions{}); err != nil {
		t.Errorf("a plain pod in a control plane without a controller manager: %v", err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := stack.WriteKubeconfig(file, plane.Config()); err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, cfg).CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{}); err != nil {
		t.Errorf("reading through the kubeconfig file: %v", err)
	}
}

func TestServiceAccountHasOnlyItsRights(t *testing.T) {
	plane := stacktest.ControlPlane(t)
	admin := client(t, plane.Config())
	ns := stacktest.Namespace(t)
	ctx := t.Context()

	if _, err := plane.ServiceAccountConfig(ctx, ns, "reader"); !apierrors.IsNotFound(errors.Unwrap(err)) {
		t.Errorf("a token for an account that does not exist: %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
	if _, err := admin.CoreV1().ServiceAccounts(ns).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg, err := plane.ServiceAccountConfig(ctx, ns, "reader")
	if err != nil {
		t.Fatal(err)
	}
	reader := client(t, cfg)
	if _, err := reader.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("without a role, listing pods should be forbidden: %v", err)
	}

	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}
	if _, err := admin.RbacV1().Roles(ns).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "reader"}},
	}
	if _, err := admin.RbacV1().RoleBindings(ns).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await.NoError(t, "listing pods with the role", func() error {
		_, err := reader.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := reader.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing resources that the role does not name should be forbidden: %v", err)
	}
}

func TestCompactionMakesOldVersionsGone(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	c := client(t, plane.Config())
	ctx := t.Context()

	first, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	old := metav1.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	if _, err := c.CoreV1().ConfigMaps("default").List(ctx, old); err != nil {
		t.Fatalf("list at the old version before the compaction: %v", err)
	}
	if _, err := plane.Etcd.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	// The watch cache may keep snapshots; a restarted server has none.
	if err := plane.APIServer.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").List(ctx, old); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("after the compaction the old version should be gone: %v", err)
	}
}

func TestServersCanBeBroken(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	c := client(t, plane.Config())
	ctx := t.Context()
	create := func(name string) {
		t.Helper()
		if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const brief = 2 * time.Second // for requests that hang
	get := func(name string, timeout time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err := c.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
		return err
	}
	create("before")

	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := get("before", brief); err == nil {
		t.Error("a killed API server responds")
	}
	if pid := plane.APIServer.PID(); pid != 0 {
		t.Errorf("a killed API server has pid %d", pid)
	}
	if err := plane.APIServer.Kill(); err == nil {
		t.Error("killing a server that is not running should be an error")
	}
	if err := plane.APIServer.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.Start(ctx); err == nil {
		t.Error("starting a running server should be an error")
	}
	if err := get("before", await.Timeout); err != nil {
		t.Errorf("the data should survive a kill of the API server: %v", err)
	}

	if err := plane.APIServer.Pause(); err != nil {
		t.Fatal(err)
	}
	// A busy machine may take a moment to stop all threads.
	await.True(t, "a paused API server does not respond", func() bool { return get("before", brief) != nil })
	if err := plane.APIServer.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := plane.APIServer.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if err := get("before", await.Timeout); err != nil {
		t.Errorf("after a pause: %v", err)
	}

	backup := filepath.Join(t.TempDir(), "backup")
	if err := plane.Etcd.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	await.NoError(t, "the API server is connected to etcd again", func() error { return get("before", brief) })
	create("after")
	for n := range 100 { // more than the API server writes until the revision is read again
		create(fmt.Sprint("after-", n))
	}
	newest, err := plane.Etcd.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Etcd.Restore(ctx, backup); err != nil {
		t.Fatal(err)
	}
	restored, err := plane.Etcd.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if restored >= newest {
		t.Errorf("the revision should have gone back from %d: %d", newest, restored)
	}
	if err := plane.APIServer.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := get("after", await.Timeout); !apierrors.IsNotFound(err) {
		t.Errorf("an object created after the backup should be gone: %v", err)
	}
	if err := plane.Etcd.Restore(ctx, backup+"-none"); err == nil || plane.Etcd.PID() == 0 {
		t.Errorf("restoring a missing backup should fail before it stops etcd: %v", err)
	}
}

func TestFailureNamesTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	dir := t.TempDir()
	plane, err := stack.Start(t.Context(), stack.Options{Dir: dir, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil {
		_ = plane.Stop(context.Background())
		t.Fatal("an unknown flag should be an error")
	}
	if !strings.Contains(err.Error(), "unknown flag: --no-such-flag") || !strings.Contains(err.Error(), filepath.Join(dir, "kube-apiserver.log")) {
		t.Errorf("the error should name the log file and show its end: %v", err)
	}
}

// TestWholeStack starts everything, verifies that each part works, stops everything and verifies that no process is left.
func TestWholeStack(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{
		ControllerManager: true,
		APIServerArgs:     []string{"--feature-gates=WatchList=true"},
	})
	ctx := t.Context()
	c := client(t, plane.Config())
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))

	await.NoError(t, "the controller manager creates service accounts", func() error {
		_, err := c.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})

	dir := t.TempDir()
	received := make(chan struct{}, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received <- struct{}{} }))
	defer hook.Close()
	amConfig := filepath.Join(dir, "am.yaml")
	write(t, amConfig, fmt.Sprintf(`
route: {receiver: hook, group_wait: 0s, group_interval: 1s}
receivers: [{name: hook, webhook_configs: [{url: %q}]}]
`, hook.URL))
	alertmanager, err := stack.StartAlertmanager(ctx, stack.AlertmanagerOptions{Dir: dir, Log: log, ConfigFile: amConfig})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, alertmanager.Server)

	rules := filepath.Join(dir, "rules.yaml")
	write(t, rules, `
groups: [{name: g, rules: [{alert: Seen, expr: 'up{cluster="local"} == 1'}, {record: 'a:b', expr: '1'}]}]
`)
	token := plane.Config().BearerToken
	prometheus, err := stack.StartPrometheus(ctx, stack.PrometheusOptions{
		Dir: dir, Log: log, RuleFiles: []string{rules}, Alertmanager: alertmanager.Address,
		Targets: []stack.ScrapeTarget{
			{Job: "apiserver", Addresses: []string{plane.APIServer.Address}, CAFile: plane.CAFile(), Token: token, Labels: map[string]string{"cluster": "local"}},
			{Job: "kube-controller-manager", Addresses: []string{plane.ControllerManager.Address}, CAFile: plane.CAFile(), Token: token},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, prometheus.Server)

	waiting, cancel := context.WithTimeout(ctx, await.Timeout)
	defer cancel()
	for _, job := range []string{"apiserver", "kube-controller-manager"} {
		if _, err := prometheus.WaitQuery(waiting, fmt.Sprintf("up{job=%q} == 1", job), func(s []stack.Sample) bool {
			return len(s) == 1 && s[0].Value == 1 && s[0].Labels["job"] == job
		}); err != nil {
			targets, _ := prometheus.Targets(ctx)
			t.Fatalf("%v\ntargets: %+v", err, targets)
		}
	}
	select {
	case <-received:
	case <-waiting.Done():
		t.Fatal("the alert never reached the webhook")
	}
	// The alert may be inactive for a moment: a scrape of a busy API server may take longer than the interval.
	await.NoError(t, "the rules", func() error {
		got, err := prometheus.Rules(ctx)
		if err == nil && (len(got) != 2 || got[0].Name != "Seen" || got[0].State != "firing" || got[0].Health != "ok" || got[1].Type != "recording") {
			err = fmt.Errorf("got %+v", got)
		}
		return err
	})
	if s, err := prometheus.Query(ctx, "scalar(vector(2.5))"); err != nil || len(s) != 1 || s[0].Value != 2.5 {
		t.Errorf("a scalar: %v %v", s, err)
	}
	if _, err := prometheus.Query(ctx, "up[1m]"); err == nil {
		t.Error("a matrix should be an error")
	}
	if _, err := prometheus.Query(ctx, "up{"); err == nil || !strings.Contains(err.Error(), "parse error") {
		t.Errorf("a broken expression should show Prometheus' own message: %v", err)
	}

	servers := []*stack.Server{
		plane.Etcd.Server, plane.APIServer.Server, plane.ControllerManager.Server, prometheus.Server, alertmanager.Server,
	}
	var pids []int
	for _, s := range servers {
		pid := s.PID()
		if !alive(pid) {
			t.Fatalf("pid %d should run", pid)
		}
		pids = append(pids, pid)
	}
	for _, s := range []*stack.Server{prometheus.Server, alertmanager.Server} {
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := plane.Stop(ctx); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("pid %d still exists", pid)
		}
	}
}

func stopAtEnd(t *testing.T, s *stack.Server) {
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// alive reports whether a process exists. It returns true for zombies.
func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }
