package chaos

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

func TestMain(m *testing.M) {
	// These tests wait more than they work. Whoever gives -parallel gets that.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := stacktest.Run(m)
	if killable.stop != nil {
		if err := killable.stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "chaos: stopping a control plane:", err)
			code = max(code, 1)
		}
	}
	if dir != "" {
		_ = os.RemoveAll(dir) // a temporary folder
	}
	os.Exit(code)
}

// outage is how long an outage lasts at least: until it has been noticed, in the short form.
var outage, _ = time.ParseDuration(os.Getenv("CHAOS_OUTAGE"))

// long tells whether the long forms are asked for.
func long() bool { return outage > 0 }

var (
	building sync.Once
	dir      string
	buildErr error
)

// built is the program, built once for all tests, with the race detector if they have it.
func built(t *testing.T) string {
	t.Helper()
	building.Do(func() {
		if dir, buildErr = os.MkdirTemp("", "chaos-"); buildErr != nil {
			return
		}
		args := []string{"build", "-buildvcs=false", "-o", filepath.Join(dir, "exporter")}
		if raceDetector {
			args = append(args, "-race")
		}
		if out, err := exec.Command("go", append(args, "..")...).CombinedOutput(); err != nil {
			buildErr = fmt.Errorf("building the exporter: %w\n%s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return filepath.Join(dir, "exporter")
}

// killable is a control plane whose servers are killed, by one test at a time.
var killable struct {
	sync.Mutex
	plane *stack.ControlPlane
	stop  func(context.Context) error
	err   error
}

// takeKillable returns the control plane whose servers may be killed; no other test has it until the end of this one, which
// leaves it running.
func takeKillable(t *testing.T) *stack.ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers; not run with -short")
	}
	killable.Lock()
	t.Cleanup(killable.Unlock)
	if killable.plane == nil && killable.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
		defer cancel()
		killable.plane, killable.err = stack.Start(ctx, stack.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
		if killable.err == nil {
			killable.stop = killable.plane.Stop
		}
	}
	if killable.err != nil {
		t.Fatal(killable.err)
	}
	return killable.plane
}

// kubeconfig writes how to reach an API server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := stack.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return path
}

// configMaps creates some in a namespace.
func configMaps(t *testing.T, config *rest.Config, namespace string, names ...string) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	for _, name := range names {
		if _, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// noConfigMap deletes one.
func noConfigMap(t *testing.T, config *rest.Config, namespace, name string) {
	t.Helper()
	if err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
