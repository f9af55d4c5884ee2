// Package stacktest provides a real control plane for tests: one that all tests of a binary share, started by the first test that
// needs it, and private ones for tests that break it.
//
//	func TestMain(m *testing.M) { stacktest.Main(m) }
//
//	func TestInformer(t *testing.T) {
//		client := kubernetes.NewForConfigOrDie(stacktest.Config(t))
//		namespace := stacktest.Namespace(t)
//		...
//	}
//
// Tests are skipped with -short. On a machine that has never built the servers, the first test builds them. Run
// `go run ./internal/testenv/cmd/servers` first, because `go test` kills a test binary after ten minutes.
package stacktest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// startTimeout leaves room for building the servers.
const startTimeout = 9 * time.Minute

var shared struct {
	sync.Mutex
	main  bool // set if Main runs, which stops the control plane
	args  []string
	tried bool
	plane *stack.ControlPlane
	err   error
}

// Runner is the method of testing.M that Main uses.
type Runner interface{ Run() int }

// Main runs the tests, stops the shared control plane and exits. TestMain must call it.
func Main(m Runner) { os.Exit(Run(m)) }

// Run is like Main, but returns the exit code, for a TestMain that has more to do. The shared API server gets more arguments.
func Run(m Runner, apiServerArgs ...string) int {
	shared.Lock()
	shared.main, shared.args = true, apiServerArgs
	shared.Unlock()

	code := m.Run()

	shared.Lock()
	defer shared.Unlock()
	if shared.plane != nil {
		if err := shared.plane.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "stacktest: stopping the shared control plane:", err)
			code = max(code, 1)
		}
	}
	shared.main, shared.tried, shared.plane, shared.err = false, false, nil, nil
	return code
}

// ControlPlane returns the control plane that all tests of the binary share: etcd and the API server, without a controller
// manager. Tests must use their own namespaces and leave its servers running.
func ControlPlane(t testing.TB) *stack.ControlPlane {
	t.Helper()
	skipShort(t)
	shared.Lock()
	defer shared.Unlock()
	if !shared.main {
		t.Fatal("the shared control plane would never be stopped: add func TestMain(m *testing.M) { stacktest.Main(m) } to this package")
	}
	if !shared.tried {
		shared.tried = true
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		shared.plane, shared.err = stack.Start(ctx, stack.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), APIServerArgs: shared.args})
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.plane
}

// Config returns the administrator's configuration for the shared control plane.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	return ControlPlane(t).Config()
}

// Private starts a control plane for one test, which may break it, and stops it at the end of the test.
func Private(t testing.TB, o stack.Options) *stack.ControlPlane {
	t.Helper()
	skipShort(t)
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	plane, err := stack.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return plane
}

// Namespace creates a namespace in the shared control plane and deletes it at the end of the test. Without a controller
// manager, its objects stay until the control plane stops.
func Namespace(t testing.TB) string {
	t.Helper()
	// One client for both requests: client-go drops the transport of a garbage-collected client without closing its connections.
	client := kubernetes.NewForConfigOrDie(Config(t))
	name := createNamespace(t, client)
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// NamespaceIn creates a namespace in any control plane, and does not delete it.
func NamespaceIn(t testing.TB, config *rest.Config) string {
	t.Helper()
	return createNamespace(t, kubernetes.NewForConfigOrDie(config))
}

func createNamespace(t testing.TB, client kubernetes.Interface) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	created, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.Name
}

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
}
