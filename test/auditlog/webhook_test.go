package auditlog

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/live"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/metrics"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const (
	auditFiles  = "../../deploy/audit/"
	nodeDir     = "/etc/kubernetes/audit" // in kubeadm.yaml
	serviceName = "informer-exporter-audit.informer-exporter.svc"
)

// A real API server sends its audit log with the generated files. The receiver names the client, survives a hostile sender, and goes on
// after an outage in which the API server dropped events.
func TestWebhook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token := write("token", []byte("s3cret\n"))
	observer, err := live.New(live.Options{TokenFile: token, Series: metrics.Series, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := observer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(observer.Collector())
	var down atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/audit", func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		observer.Webhook().ServeHTTP(w, r)
	})
	cert, key, err := certutil.GenerateSelfSignedCertKey(serviceName, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	write("ca.crt", cert)
	kubeconfig := generated(t, "webhook.kubeconfig")
	const service = "https://10.96.0.200:9958"
	if !strings.Contains(kubeconfig, service) || !strings.Contains(kubeconfig, serviceName) {
		t.Fatalf("webhook.kubeconfig lacks %s or %s:\n%s", service, serviceName, kubeconfig)
	}
	write("webhook.kubeconfig", []byte(strings.ReplaceAll(kubeconfig, service, server.URL)))
	write("policy.yaml", []byte(generated(t, "policy.yaml")))

	plane := stacktest.Private(t, stack.Options{APIServerArgs: append(kubeadmArgs(t, dir), "--audit-webhook-initial-backoff=10ms")})
	admin := kubernetes.NewForConfigOrDie(plane.Config())
	create := metav1.CreateOptions{}
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, create); err != nil {
		t.Fatal(err)
	}
	config := program(t, plane, "mailer")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	await.True(t, "synced", informer.HasSynced)
	client := func(s metricstest.Samples, metric string) (n float64) {
		for name, v := range s.By(metric, "client") {
			if strings.Contains(name, ":mailer") {
				n += v
			}
		}
		return n
	}
	await.NoError(t, "the watch of mailer", func() error {
		if s := metricstest.Gather(t, registry); client(s, "k8s_audit_watches_open") != 1 {
			return fmt.Errorf("%v, requests %v", s.By("k8s_audit_watches_open", "client"), s.By("k8s_audit_webhook_requests_total", "outcome"))
		}
		return nil
	})

	hostile := server.Client() // trusts the certificate, and has no token
	hostile.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
	for body, authorization := range map[string]string{`{"kind":"EventList","items":[{}]}`: "Bearer guess", "[[[[": "Bearer s3cret"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/audit", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := hostile.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s with %q: %s", body, authorization, response.Status)
		}
	}

	down.Store(true)
	writer := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	read := func() {
		if _, err := writer.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"}); err != nil {
			t.Fatal(err)
		}
	}
	await.NoError(t, "events that the API server drops", func() error {
		read()
		raw, err := admin.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
		if err != nil {
			return err
		}
		s, err := metricstest.Parse(strings.NewReader(string(raw)))
		if err != nil {
			return err
		}
		if s.Sum("apiserver_audit_error_total", "plugin", "webhook") == 0 {
			return fmt.Errorf("no errors")
		}
		return nil
	})
	down.Store(false)
	before := client(metricstest.Gather(t, registry), "k8s_audit_requests_total")
	await.True(t, "events after the outage", func() bool {
		read()
		return client(metricstest.Gather(t, registry), "k8s_audit_requests_total") > before
	})
	s := metricstest.Gather(t, registry)
	for metric, want := range map[string]float64{"k8s_audit_watches_open": 1, "k8s_audit_watch_ends_total": 0, "k8s_audit_unwatched_seconds": 0} {
		if got := client(s, metric); got != want {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
	outcomes := s.By("k8s_audit_webhook_requests_total", "outcome")
	if outcomes["accepted"] == 0 || outcomes["unauthorized"] != 1 || outcomes["invalid"] != 1 {
		t.Errorf("outcomes %v", outcomes)
	}
}

// generated returns a file of deploy/audit.
func generated(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(auditFiles + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kubeadmArgs returns the flags of the API server in kubeadm.yaml, with the files in dir.
func kubeadmArgs(t *testing.T, dir string) (args []string) {
	t.Helper()
	var c struct {
		APIServer struct {
			ExtraArgs    []struct{ Name, Value string }
			ExtraVolumes []struct{ HostPath, MountPath string }
		}
	}
	if err := yaml.Unmarshal([]byte(generated(t, "kubeadm.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if v := c.APIServer.ExtraVolumes; len(v) != 1 || v[0].HostPath != nodeDir || v[0].MountPath != nodeDir {
		t.Fatalf("volumes %v, want one of %s", v, nodeDir)
	}
	for _, a := range c.APIServer.ExtraArgs {
		args = append(args, "--"+a.Name+"="+strings.ReplaceAll(a.Value, nodeDir, dir))
	}
	return args
}
