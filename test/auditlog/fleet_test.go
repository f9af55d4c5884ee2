package auditlog

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/statemetrics"
)

// member is a program that is not changed, with a service account of its own.
type member struct {
	// account is the name of the service account, agent the first word of the user agent.
	account, agent string
	// resource is what the faults are about, path its name in URLs, namespace where it is watched.
	resource, path, namespace string
	// without are the faults that the program cannot have, and why.
	without map[string]string
	// start starts the program. It returns why that is impossible here, or a function that makes the program write one object over and
	// over.
	start func(*testing.T, *fleetEnv, *rest.Config) (missing string, spin func(context.Context) error)

	gateway *gateway
	spin    func(context.Context) error
}

// client is the value of the label client.
func (m *member) client() string {
	return "system:serviceaccount:" + namespace + ":" + m.account + "/" + m.agent
}

// fleetEnv is what programs are started in.
type fleetEnv struct {
	ctx   context.Context
	dir   string
	admin kubernetes.Interface
}

// fleet returns the programs.
func fleet() []*member {
	return []*member{
		{account: "controller-manager", agent: "kube-controller-manager", resource: "replicasets.apps", path: "replicasets", namespace: "*", start: startControllerManager},
		{
			account: "kube-state-metrics", agent: "kube-state-metrics", resource: "configmaps", path: "configmaps", namespace: "*", start: startStateMetrics,
			without: map[string]string{writeLoop: "it never writes"},
		},
		{account: "tiers", agent: "tiers", resource: "configmaps", path: "configmaps", namespace: "*", start: startTiers},
		{account: "mailer", agent: "mailer", resource: "configmaps", path: "configmaps", namespace: namespace, start: startRaw},
		{account: "stock", agent: "OpenAPI-Generator", resource: "configmaps", path: "configmaps", namespace: namespace, start: startPython},
	}
}

// startFleet starts the programs that are installed, and waits until they watch.
func startFleet(t *testing.T, e *fleetEnv, plane *stack.ControlPlane) (running []*member) {
	t.Helper()
	for _, name := range []string{"web", "mail", "stock", "tiers"} {
		if _, err := e.admin.CoreV1().ConfigMaps(namespace).Create(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range fleet() {
		account := stacktest.NewAccount(t, plane, namespace, m.account)
		account.Bind(t, "cluster-admin")
		account.AwaitAllowed(t, authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"}})
		var config *rest.Config
		m.gateway, config = newGateway(t, account.Config, m.path)
		var missing string
		if missing, m.spin = m.start(t, e, config); missing != "" {
			t.Logf("SKIPPED: running %s, because %s", m.agent, missing)
			continue
		}
		running = append(running, m)
	}
	for _, m := range running {
		await.True(t, m.agent+" watches", m.gateway.steady)
	}
	return running
}

// startProgram starts a process.
func (e *fleetEnv) startProgram(t *testing.T, name, program string, args ...string) {
	t.Helper()
	server, err := stack.StartCommand(e.ctx, stack.Command{
		Name: name, Program: program, Args: args, Dir: e.dir, Ready: func(context.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(server.LogTail())
		}
		_ = server.Kill() // it may have ended
	})
}

func startControllerManager(t *testing.T, e *fleetEnv, config *rest.Config) (string, func(context.Context) error) {
	t.Helper()
	program, err := stack.Binary(e.ctx, stack.ControllerManagerProgram, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.startProgram(t, "kube-controller-manager", program, "--kubeconfig="+stacktest.Kubeconfig(t, config), "--leader-elect=false",
		"--bind-address=127.0.0.1", "--secure-port="+fmt.Sprint(port.Free()), "--cert-dir="+t.TempDir())
	// A status that is wrong makes it write the status again.
	return "", func(ctx context.Context) error {
		labels := map[string]string{"app": "web"}
		sets := e.admin.AppsV1().ReplicaSets(namespace)
		_, err := sets.Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "none"}}}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		for range 70 {
			if _, err := sets.Patch(ctx, "web", types.MergePatchType, []byte(`{"status":{"replicas":3}}`), metav1.PatchOptions{}, "status"); err != nil {
				return err
			}
			if err := until(ctx, func() (bool, error) {
				set, err := sets.Get(ctx, "web", metav1.GetOptions{})
				return err == nil && set.Status.Replicas == 0, err
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

func startStateMetrics(t *testing.T, e *fleetEnv, config *rest.Config) (string, func(context.Context) error) {
	t.Helper()
	program := statemetrics.Installed()
	if program == "" {
		return "it is not installed: make bench-check builds it", nil
	}
	e.startProgram(t, "kube-state-metrics", program, "--kubeconfig="+stacktest.Kubeconfig(t, config), "--host=127.0.0.1", "--port="+fmt.Sprint(port.Free()),
		"--telemetry-host=127.0.0.1", "--telemetry-port="+fmt.Sprint(port.Free()))
	return "", nil
}

// startTiers starts the operator on controller-runtime, which does not use the library.
func startTiers(t *testing.T, e *fleetEnv, config *rest.Config) (string, func(context.Context) error) {
	t.Helper()
	program := filepath.Join(e.dir, "tiers") // the first word of its user agent
	built, err := stack.Compile(e.ctx, "examples/controller-runtime/undecorated")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(built, program); err != nil {
		t.Fatal(err)
	}
	e.startProgram(t, "tiers", program, "--kubeconfig="+stacktest.Kubeconfig(t, config), "--metrics-bind-address=127.0.0.1:"+fmt.Sprint(port.Free()), "--leader-election-namespace="+namespace)
	// A label that is missing makes it add the label again.
	return "", func(ctx context.Context) error {
		const key = "example.com/tier"
		maps := e.admin.CoreV1().ConfigMaps(namespace)
		for range 70 {
			if _, err := maps.Patch(ctx, "tiers", types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+key+`":"gold"},"labels":{"`+key+`":null}}}`), metav1.PatchOptions{}); err != nil {
				return err
			}
			if err := until(ctx, func() (bool, error) {
				m, err := maps.Get(ctx, "tiers", metav1.GetOptions{})
				return err == nil && m.Labels[key] == "gold", err
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

func startRaw(t *testing.T, e *fleetEnv, config *rest.Config) (string, func(context.Context) error) {
	t.Helper()
	p := newRawProgram(t, config, "mailer/2.0")
	go p.run(e.ctx)
	return "", p.spin
}

func startPython(t *testing.T, e *fleetEnv, config *rest.Config) (string, func(context.Context) error) {
	t.Helper()
	const python = "/usr/bin/python3" // of Debian's package python3-kubernetes
	if err := exec.CommandContext(e.ctx, python, "-c", "import kubernetes").Run(); err != nil {
		return "Python's client is missing (Debian: python3-kubernetes): " + err.Error(), nil
	}
	program := exec.CommandContext(e.ctx, python, "testdata/client.py", stacktest.Kubeconfig(t, config), namespace)
	program.Stdout, program.Stderr = t.Output(), t.Output()
	input, err := program.StdinPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill() // it may have ended
		_ = program.Wait()
	})
	return "", func(ctx context.Context) error {
		if _, err := io.WriteString(input, "spin\n"); err != nil {
			return err
		}
		return until(ctx, func() (bool, error) {
			m, err := e.admin.CoreV1().ConfigMaps(namespace).Get(ctx, "stock", metav1.GetOptions{})
			return err == nil && m.Data["n"] == "79", err
		})
	}
}

// until polls without a pause, which would be most of the time of a loop of writes.
func until(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
