package auditlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/reason"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// sample is the log that the repository ships. UPDATE=1 writes it.
const sample = "../../examples/audit/audit.log.gz"

const namespace = "shop"

// Programs that are not changed, each with a fault of its own: the report names the right one.
func TestUnmodifiedPrograms(t *testing.T) {
	t.Parallel()
	policy, err := filepath.Abs("../../deploy/audit/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "audit.log")
	plane := stacktest.Private(t, stack.Options{
		ControllerManager: true, APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log},
	})
	admin := kubernetes.NewForConfigOrDie(plane.Config())
	create := metav1.CreateOptions{}
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, create); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "prices"}}, create); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	starved := starve(ctx, t, program(t, plane, "mailer"))
	reset := lose(ctx, t, program(t, plane, "orders-operator"))
	relist(ctx, t, program(t, plane, "stock-sync"))
	spin(ctx, t, program(t, plane, "price-updater"))
	read(ctx, t, program(t, plane, "invoices"))
	reset() // by now, the watch has lasted for more than a second

	var last report.Report
	await.NoError(t, "the report names each program", func() error {
		starved()
		files, err := report.Open([]string{log}, nil)
		if err != nil {
			return err
		}
		if last, err = report.Of(ctx, files, report.Options{}); err != nil {
			return err
		}
		return verify(last)
	})
	if last.Malformed > 1 || last.Duplicates > 0 { // the last line may be incomplete
		t.Errorf("%d malformed, %d duplicates", last.Malformed, last.Duplicates)
	}
	if os.Getenv("UPDATE") != "" {
		writeLog(t, log, sample)
	}
}

// verify verifies that each fault is in the report, and only with the program that has it.
func verify(r report.Report) error {
	found := map[string]report.Client{}
	for _, c := range r.Clients {
		found[c.Agent] = c
	}
	manager := found["kube-controller-manager"]
	if manager.Open < 20 || manager.Relists > 0 || manager.Lost > 0 {
		return fmt.Errorf("kube-controller-manager: %d open watches, %d relists, %d lost", manager.Open, manager.Relists, manager.Lost)
	}
	for name, has := range map[string]func(report.Client) bool{
		"mailer": func(c report.Client) bool { return c.Lost == 1 },
		"orders-operator": func(c report.Client) bool {
			return c.EarlyEnds[reason.ServerClose] > 0 && c.LongestGap > 0 && c.Open > 0 && c.Relists == 0
		},
		"stock-sync":    func(c report.Client) bool { return c.Relists >= 3 },
		"price-updater": func(c report.Client) bool { return len(c.HotLoops) == 1 && c.Conflicts > 10 },
		"invoices":      func(c report.Client) bool { return c.RepeatedReads >= 20 },
	} {
		for agent, c := range found {
			fits := has(c)
			if agent == name && !fits {
				return fmt.Errorf("%s: %+v", name, c)
			}
			if agent != name && fits {
				return fmt.Errorf("%s is reported like %s: %+v", agent, name, c)
			}
		}
		if want := "system:serviceaccount:" + namespace + ":" + name; found[name].User != want {
			return fmt.Errorf("%s: user %q, want %q", name, found[name].User, want)
		}
	}
	return nil
}

// program returns the configuration of a service account's client.
func program(t *testing.T, plane *stack.ControlPlane, name string) *rest.Config {
	t.Helper()
	account := stacktest.NewAccount(t, plane, namespace, name)
	account.Grant(t, namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "update"}})
	config := account.Config
	config.UserAgent = name + "/v1.4.0 (linux/amd64)"
	return config
}

// raw sends requests without client-go's informers. The body must be closed.
func raw(ctx context.Context, t *testing.T, config *rest.Config, query string) *http.Response {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/api/v1/namespaces/"+namespace+"/configmaps?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", config.UserAgent)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", query, response.Status)
	}
	return response
}

// list lists and returns the version.
func list(ctx context.Context, t *testing.T, config *rest.Config, query string) (version string) {
	t.Helper()
	response := raw(ctx, t, config, query)
	defer func() { _ = response.Body.Close() }()
	var all corev1.ConfigMapList
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all.ResourceVersion
}

// watch opens a watch and ends it once it has lasted.
func watch(ctx context.Context, t *testing.T, config *rest.Config, version string, lasts time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response := raw(ctx, t, config, "watch=true&allowWatchBookmarks=true&timeoutSeconds=400&resourceVersion="+url.QueryEscape(version))
	defer time.AfterFunc(lasts, cancel).Stop()
	_, _ = io.Copy(io.Discard, response.Body) // until the end of ctx
	_ = response.Body.Close()
}

// starve loses a watch. The returned function sends a request of the program, which lives.
func starve(ctx context.Context, t *testing.T, config *rest.Config) func() {
	t.Helper()
	version := list(ctx, t, config, "resourceVersion=0")
	watch(ctx, t, config, version, 1200*time.Millisecond)
	client := kubernetes.NewForConfigOrDie(config)
	var last time.Time
	n := 0
	return func() {
		if time.Since(last) < 5*time.Second {
			return
		}
		last = time.Now()
		n++
		_, _ = client.CoreV1().ConfigMaps(namespace).Get(ctx, fmt.Sprint("mail-", n), metav1.GetOptions{}) // there is none
	}
}

// lose runs an informer. The returned function cuts its connection.
func lose(ctx context.Context, t *testing.T, config *rest.Config) (reset func()) {
	t.Helper()
	host, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.Start(host.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	through := proxy.RESTConfig(config)
	through.UserAgent = config.UserAgent
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(through), 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	await.True(t, "synced", informer.HasSynced)
	return proxy.Reset
}

// relist lists again after each watch, from the version it has.
func relist(ctx context.Context, t *testing.T, config *rest.Config) {
	t.Helper()
	version := list(ctx, t, config, "resourceVersion=0")
	for range 4 {
		watch(ctx, t, config, version, 1100*time.Millisecond)
		version = list(ctx, t, config, "resourceVersion="+url.QueryEscape(version))
	}
	go func() {
		ctx := ctx
		response := raw(ctx, t, config, "watch=true&allowWatchBookmarks=true&timeoutSeconds=400&resourceVersion="+url.QueryEscape(version))
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}()
}

// spin writes one object over and over, every other time from an old version.
func spin(ctx context.Context, t *testing.T, config *rest.Config) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	current, err := client.Get(ctx, "prices", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old := current.DeepCopy()
	for n := range 80 {
		object := current
		if n%2 > 0 {
			object = old
		}
		object.Data = map[string]string{"n": fmt.Sprint(n)}
		if updated, err := client.Update(ctx, object, metav1.UpdateOptions{}); err == nil {
			current = updated
		}
	}
}

// read bypasses a cache.
func read(ctx context.Context, t *testing.T, config *rest.Config) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	for range 15 {
		if _, err := client.Get(ctx, "prices", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		list(ctx, t, config, "")
	}
}

// writeLog writes a log to the repository. Lines of the administrator, who sets up the test, are left out.
func writeLog(t *testing.T, log, to string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") || strings.Contains(line, "auditlog.test/") {
			continue
		}
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
