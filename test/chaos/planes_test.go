package chaos

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// startTimeout leaves room for building the servers.
const startTimeout = 9 * time.Minute

// plane is a control plane that several tests share, started by the first one.
type plane struct {
	sync.Mutex // held by a test that kills its servers
	once       sync.Once
	// prepare adds options, with files in dir.
	prepare func(dir string) (stack.Options, error)

	*stack.ControlPlane
	dir string
	err error
}

// killable is for tests that kill servers, one at a time. The others use steady, with credentials that can be replaced.
var (
	killable = &plane{prepare: func(string) (stack.Options, error) { return stack.Options{}, nil }}
	steady   = &plane{prepare: withCredentials}
)

func (p *plane) start() {
	if p.dir, p.err = os.MkdirTemp("", "chaos-"); p.err != nil {
		return
	}
	var o stack.Options
	if o, p.err = p.prepare(p.dir); p.err != nil {
		return
	}
	o.Dir, o.Log = filepath.Join(p.dir, "plane"), slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	p.ControlPlane, p.err = stack.Start(ctx, o)
}

// use returns once the control plane runs.
func (p *plane) use(t *testing.T) *plane {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	p.once.Do(p.start)
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p
}

// take is like use, for tests that kill and restart servers. It locks the control plane until the test ends.
func (p *plane) take(t *testing.T) *plane {
	t.Helper()
	p.Lock()
	t.Cleanup(p.Unlock)
	return p.use(t)
}

func (p *plane) stop() error {
	var err error
	if p.ControlPlane != nil {
		err = p.Stop(context.Background())
	}
	if p.dir != "" {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}

// proxy starts a proxy in front of the API server, so that connections can be cut.
func (p *plane) proxy(t *testing.T) *faultproxy.Proxy {
	t.Helper()
	proxy, err := faultproxy.Start(p.APIServer.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// namespace creates a namespace with two ConfigMaps, one of which, "goes", will be deleted.
func (p *plane) namespace(t *testing.T) string {
	t.Helper()
	namespace := stacktest.NamespaceIn(t, p.Config())
	p.configMap(t, namespace, "stays")
	p.configMap(t, namespace, "goes")
	return namespace
}

func (p *plane) configMap(t *testing.T, namespace, name string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps(namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// change creates a ConfigMap and deletes another, so that a stale cache is detected.
func (p *plane) change(t *testing.T, namespace string) {
	t.Helper()
	p.configMap(t, namespace, "comes")
	if err := kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps(namespace).Delete(t.Context(), "goes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
