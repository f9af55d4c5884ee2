package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// operator is a process of the example. Its requests pass through a proxy.
type operator struct {
	t         *testing.T
	namespace string
	client    *kubernetes.Clientset
	api       *api
	command   *exec.Cmd
	output    *lockedBuffer
	metrics   string
	ready     string
}

// inServiceAccount runs a program with the namespace file of a service account, in a separate mount namespace.
const inServiceAccount = `mount -t tmpfs none "$(readlink -f /var/run)" &&
	mkdir -p /var/run/secrets/kubernetes.io/serviceaccount &&
	printf %s "$WATCH_NAMESPACE" > /var/run/secrets/kubernetes.io/serviceaccount/namespace && exec "$0" "$@"`

func inPod(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "sh", append([]string{"-c", inServiceAccount, program}, args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	return command
}

// startOperator starts a program that watches the namespace of its service account.
func startOperator(t *testing.T, program, namespace string, elect bool, more ...string) *operator {
	t.Helper()
	config := stacktest.Config(t)
	o := &operator{
		t: t, namespace: namespace, client: kubernetes.NewForConfigOrDie(config),
		api: newAPI(t, config), output: &lockedBuffer{},
	}
	ports := [2]int{port.Free(), port.Free()}
	o.metrics = fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[0])
	o.ready = fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1])
	args := []string{
		"--kubeconfig", stacktest.Kubeconfig(t, &rest.Config{Host: o.api.server.URL}),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[0]), fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[1]),
		"--zap-devel=false", fmt.Sprintf("--leader-elect=%v", elect),
	}
	args = append(args, more...)
	o.command = exec.CommandContext(context.Background(), program, args...)
	if elect {
		o.command = inPod(context.Background(), program, args...)
	}
	o.command.Env = append(os.Environ(), "WATCH_NAMESPACE="+namespace)
	o.command.Stdout, o.command.Stderr = o.output, o.output
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = o.command.Process.Kill() // unless it has ended
		if t.Failed() {
			t.Logf("output of %s:\n%s", program, o.output)
		}
	})
	return o
}

// run exercises every function of the operator.
func (o *operator) run() {
	t, ctx := o.t, o.t.Context()
	o.eventually("the operator is ready", func() bool {
		response, err := http.Get(o.ready) //nolint:noctx // in a test
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	maps, accounts := o.client.CoreV1().ConfigMaps(o.namespace), o.client.CoreV1().ServiceAccounts(o.namespace)

	// A change and an Event.
	o.create("good", "us")
	o.eventually("the label is set", func() bool {
		m, err := maps.Get(ctx, "good", metav1.GetOptions{})
		return err == nil && m.Labels[owner] == "us"
	})
	o.eventually("the Event is recorded", func() bool { return len(o.events()) > 0 && strings.Contains(fmt.Sprint(o.events()), "Labeled") })

	// An owned object, which the controller recreates.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "account", Annotations: map[string]string{settings: "some"}}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	exists := func() bool {
		m, err := maps.Get(ctx, "account-settings", metav1.GetOptions{})
		return err == nil && m.Data["settings"] == "some" && len(m.OwnerReferences) == 1
	}
	o.eventually("the owned object exists", exists)
	if err := maps.Delete(ctx, "account-settings", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.eventually("the owned object exists again", exists)

	// Failures with their retries.
	o.create("bad", "no label!") // rejected by the API server
	o.eventually("failures are retried", func() bool { return len(o.attempts()) >= attempts })
	if err := maps.Delete(ctx, "bad", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// attempts is the number of attempts of a failing reconcile to wait for.
const attempts = 7

func (o *operator) create(name, owned string) {
	o.t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{owner: owned}}}
	if _, err := o.client.CoreV1().ConfigMaps(o.namespace).Create(o.t.Context(), m, metav1.CreateOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

// attempts returns the times of the requests that fail.
func (o *operator) attempts() (at []time.Time) {
	for _, r := range o.api.requests() {
		if strings.HasPrefix(r.line, "PATCH") && strings.Contains(r.line, "/configmaps/bad") && r.code == http.StatusUnprocessableEntity {
			at = append(at, r.at)
		}
	}
	return at
}

// events returns the relevant fields of each Event.
func (o *operator) events() (events []string) {
	o.t.Helper()
	list, err := o.client.EventsV1().Events(o.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	for _, e := range list.Items {
		events = append(events, o.normalize(fmt.Sprint(e.Type, " ", e.Reason, " ", e.Action, " ", e.Note, " about ", e.Regarding.Kind, "/", e.Regarding.Name,
			" by ", e.ReportingController, " ", e.DeprecatedSource.Component)))
	}
	return events
}

// end sends SIGTERM, as a kubelet does, and returns the exit code.
func (o *operator) end() int {
	o.t.Helper()
	if err := o.command.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
	_ = o.command.Wait() // the exit code is returned
	return o.command.ProcessState.ExitCode()
}

// messages returns the log messages with their attributes, except for those that differ between processes.
func (o *operator) messages() (messages []string) {
	o.t.Helper()
	for line := range strings.Lines(o.output.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			messages = append(messages, o.normalize(strings.TrimSpace(line)))
			continue
		}
		for _, key := range []string{"ts", "reconcileID", "addr", "namespace", "stacktrace"} {
			delete(fields, key)
		}
		text, err := json.Marshal(fields)
		if err != nil {
			o.t.Fatal(err)
		}
		messages = append(messages, o.normalize(string(text)))
	}
	return messages
}

// scrape returns the metrics of the operator.
func (o *operator) scrape() metricstest.Samples {
	o.t.Helper()
	s, err := metricstest.Scrape(o.t.Context(), o.metrics)
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

func (o *operator) eventually(what string, condition func() bool) {
	o.t.Helper()
	await.True(o.t, what, condition)
}

// api is a proxy that records requests.
type api struct {
	server *httptest.Server
	mu     sync.Mutex
	seen   []request
}

type request struct {
	at   time.Time
	line string
	code int
}

func newAPI(t *testing.T, config *rest.Config) *api {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			agent := r.Request.UserAgent()
			a.seen = append(a.seen, request{time.Now(), r.Request.Method + " " + r.Request.URL.RequestURI() + " by " + agent, r.StatusCode})
			return nil
		},
	}
	a.server = httptest.NewServer(proxy)
	t.Cleanup(func() {
		a.server.CloseClientConnections() // watches
		a.server.Close()
	})
	return a
}

func (a *api) requests() []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]request(nil), a.seen...)
}

// lockedBuffer is the output of a process.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
