package auditlog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const (
	auditFiles  = "../../deploy/audit/"
	nodeDir     = "/etc/kubernetes/audit" // in kubeadm.yaml
	serviceName = "informer-exporter-audit.informer-exporter.svc"
)

// A real API server sends its audit log to the real program, with the generated files. The receiver names the client, survives a hostile
// sender, and goes on after it was down, while the API server dropped events.
func TestWebhook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	receiver := startReceiver(t, dir)
	write(t, dir, "policy.yaml", []byte(generated(t, "policy.yaml")))
	kubeconfig := generated(t, "webhook.kubeconfig")
	const service = "https://10.96.0.200:9958"
	if !strings.Contains(kubeconfig, service) || !strings.Contains(kubeconfig, serviceName) {
		t.Fatalf("webhook.kubeconfig lacks %s or %s:\n%s", service, serviceName, kubeconfig)
	}
	write(t, dir, "webhook.kubeconfig", []byte(strings.ReplaceAll(kubeconfig, service, receiver.url)))

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
	await.NoError(t, "the watch of mailer", func() error {
		s, err := receiver.scrape(ctx)
		if err == nil && ofMailer(s, "k8s_audit_watches_open") != 1 {
			err = fmt.Errorf("%v, requests %v", s.By("k8s_audit_watches_open", "client"), s.By("k8s_audit_webhook_requests_total", "outcome"))
		}
		return err
	})

	for body, authorization := range map[string]string{`{"kind":"EventList","items":[{}]}`: "Bearer guess", "[[[[": "Bearer s3cret"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, receiver.url+"/audit", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := receiver.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s with %q: %s", body, authorization, response.Status)
		}
	}
	s, err := receiver.scrape(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if outcomes := s.By("k8s_audit_webhook_requests_total", "outcome"); outcomes["accepted"] == 0 || outcomes["unauthorized"] != 1 || outcomes["invalid"] != 1 {
		t.Errorf("outcomes %v", outcomes)
	}

	if err := receiver.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	read := func() {
		if _, err := maps.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"}); err != nil {
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
		if err == nil && s.Sum("apiserver_audit_error_total", "plugin", "webhook") == 0 {
			err = errors.New("no errors")
		}
		return err
	})
	if err := receiver.Start(ctx); err != nil {
		t.Fatal(err)
	}
	await.NoError(t, "events after the outage", func() error {
		read()
		s, err = receiver.scrape(ctx)
		if err == nil && ofMailer(s, "k8s_audit_requests_total") == 0 {
			err = errors.New("none")
		}
		return err
	})
	// The watch goes on. It began before the restart, and counts once it ends.
	for _, metric := range []string{"k8s_audit_watch_ends_total", "k8s_audit_relists_total", "k8s_audit_unwatched_seconds"} {
		if got := ofMailer(s, metric); got != 0 {
			t.Errorf("%s is %v, want 0", metric, got)
		}
	}
}

func ofMailer(s metricstest.Samples, metric string) (n float64) {
	for name, v := range s.By(metric, "client") {
		if strings.Contains(name, ":mailer") {
			n += v
		}
	}
	return n
}

func write(t *testing.T, dir, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// auditReceiver is a process of the program that receives audit logs.
type auditReceiver struct {
	*stack.Server
	url    string
	client *http.Client
}

// startReceiver starts the program with a certificate for its Service, and writes what API servers need to dir: ca.crt and token.
func startReceiver(t *testing.T, dir string) *auditReceiver {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey(serviceName, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	web := fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\n", write(t, dir, "ca.crt", cert), write(t, own, "tls.key", key))
	program, err := stack.Compile(t.Context(), "cmd/exporter")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	address := port.Address(port.Free())
	r := &auditReceiver{url: "https://" + address, client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: serviceName}, DisableKeepAlives: true,
	}}}
	r.Server, err = stack.StartCommand(t.Context(), stack.Command{
		Name: "informer-exporter", Program: program, Dir: own,
		Args: []string{
			"audit", "serve", "--webhook", "--webhook.token-file=" + write(t, dir, "token", []byte("s3cret\n")),
			"--web.config.file=" + write(t, own, "web.yaml", []byte(web)), "--web.listen-address=" + address,
		},
		Ready: func(ctx context.Context) error {
			_, err := r.scrape(ctx)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(r.LogTail())
		}
		_ = r.Kill() // it may have ended
	})
	return r
}

func (r *auditReceiver) scrape(ctx context.Context) (metricstest.Samples, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() // only read
	return metricstest.Decode(response.Body, response.Header)
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
	// The fields of kubeadm.k8s.io/v1beta4 that the file has: kubeadm's own types are in k8s.io/kubernetes, which is no library.
	var c struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		APIServer  struct {
			ExtraArgs    []struct{ Name, Value string } `json:"extraArgs"`
			ExtraVolumes []struct {
				Name, HostPath, MountPath, PathType string
				ReadOnly                            bool
			} `json:"extraVolumes"`
		} `json:"apiServer"`
	}
	if err := yaml.UnmarshalStrict([]byte(generated(t, "kubeadm.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	if c.APIVersion != "kubeadm.k8s.io/v1beta4" || c.Kind != "ClusterConfiguration" {
		t.Errorf("%s %s", c.APIVersion, c.Kind)
	}
	if v := c.APIServer.ExtraVolumes; len(v) != 1 || v[0].HostPath != nodeDir || v[0].MountPath != nodeDir {
		t.Fatalf("volumes %v, want one of %s", v, nodeDir)
	}
	for _, a := range c.APIServer.ExtraArgs {
		args = append(args, "--"+a.Name+"="+strings.ReplaceAll(a.Value, nodeDir, dir))
	}
	return args
}
