package exporter

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const base = "../../deploy/kustomize/base"

// The API server accepts the manifests, Pod Security admission admits the Pod, and the permissions are sufficient: as the
// service account of the manifests, the exporter can watch every default resource.
func TestManifestsOnARealServer(t *testing.T) {
	needKubectl(t)
	admin := stacktest.Config(t)
	kubectl(t, admin, "", "apply", "-k", base)

	deployment := readDeployment(t)
	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Name = "probe"
	_, err := kubernetes.NewForConfigOrDie(admin).CoreV1().Pods("informer-exporter").Create(t.Context(), pod,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Errorf("the pod is not admitted: %v", err)
	}

	as, err := stacktest.ControlPlane(t).ServiceAccountConfig(t.Context(), "informer-exporter", "informer-exporter")
	if err != nil {
		t.Fatal(err)
	}
	e := newReal(t, Options{REST: as})
	run(t, e, admin)
	want := map[string]float64{}
	for _, k := range kinds.Default() {
		want[k.Type()] = 1
	}
	waitKindUp(t, e, want)
	waitReady(t, e)
}

func TestManifestsRender(t *testing.T) {
	needKubectl(t)
	dir := t.TempDir()
	absolute, err := filepath.Abs(base)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(dir, absolute)
	if err != nil {
		t.Fatal(err)
	}
	overlay := "namespace: elsewhere\nresources: [" + relative + "]\nimages: [{name: ghcr.io/informer-exporter/informer-exporter, newTag: v9}]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	auth, highlyAvailable, sharding := overlayOf(t, "kubernetes-auth"), overlayOf(t, "high-availability"), overlayOf(t, "sharding")
	isolated, audit := overlayOf(t, "network-policy"), overlayOf(t, "audit", "audit-servicemonitor")
	both, reversed := overlayOf(t, "kubernetes-auth", "high-availability"), overlayOf(t, "high-availability", "kubernetes-auth")
	composed := []string{"- serve\n", "- --web.kubernetes-auth\n", "- --web.health-address=:9959\n", "- --leader-elect\n", "replicas: 3", "name: system:auth-delegator"}
	for path, parts := range map[string][]string{
		both: composed, reversed: composed,
		highlyAvailable: {
			"- serve\n", "- --leader-elect\n", "replicas: 3", "type: RollingUpdate", "terminationGracePeriodSeconds: 30", "kind: PodDisruptionBudget",
			"name: informer-exporter-leader-election\n  namespace: elsewhere", "topologyKey: kubernetes.io/hostname",
		},
		auth: {
			"- --web.kubernetes-auth", "containerPort: 9959", "containerPort: 9958", "name: system:auth-delegator", "path: /readyz\n            port: health",
			"path: /livez\n            port: health", "name: informer-exporter-metrics", "namespace: elsewhere\n",
		},
		sharding:                    {"kind: StatefulSet", "replicas: 3", "--shard=$(POD_INDEX)/3", "namespace: elsewhere\n"},
		audit:                       {"- serve\n", "- --webhook\n", "kind: Service", "name: informer-exporter-audit\n  namespace: elsewhere", "kind: NetworkPolicy", "kind: ServiceMonitor"},
		isolated:                    {"kind: NetworkPolicy", "name: informer-exporter\n  namespace: elsewhere"},
		base:                        {"kind: Deployment", "image: ghcr.io/informer-exporter/informer-exporter:v"},
		base + "/../servicemonitor": {"kind: Deployment", "kind: ServiceMonitor", "honorLabels: true"},
		dir:                         {"namespace: elsewhere", "name: elsewhere", "informer-exporter:v9"},
	} {
		out, err := exec.CommandContext(t.Context(), "kubectl", "kustomize", path).CombinedOutput()
		if err != nil {
			t.Errorf("kubectl kustomize %s: %v\n%s", path, err, out)
			continue
		}
		for _, part := range parts {
			if !strings.Contains(string(out), part) {
				t.Errorf("%s does not have %q", path, part)
			}
		}
		moved := []string{dir, auth, highlyAvailable, both, reversed, sharding, isolated, audit}
		if slices.Contains(moved, path) && strings.Contains(string(out), "namespace: informer-exporter") {
			t.Errorf("an overlay cannot move everything to another namespace:\n%s", out)
		}
	}
}

// The API server accepts the StatefulSet of the shards, which has as many Pods as each shard expects.
func TestShardingOnARealServer(t *testing.T) {
	needKubectl(t)
	out, err := exec.CommandContext(t.Context(), "kubectl", "kustomize", overlayOf(t, "kubernetes-auth", "sharding")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "kind: Deployment") {
		t.Error("the Deployment is still there")
	}
	var set appsv1.StatefulSet
	for document := range strings.SplitSeq(string(out), "\n---\n") {
		if strings.Contains(document, "kind: StatefulSet") {
			if err := yaml.UnmarshalStrict([]byte(document), &set); err != nil {
				t.Fatal(err)
			}
		}
	}
	namespace := stacktest.Namespace(t)
	set.Namespace = namespace
	_, err = kubernetes.NewForConfigOrDie(stacktest.Config(t)).AppsV1().StatefulSets(namespace).Create(t.Context(), &set,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatalf("the StatefulSet is not accepted: %v", err)
	}
	container := set.Spec.Template.Spec.Containers[0]
	if want := []string{"serve", "--web.kubernetes-auth", "--web.health-address=:9959", "--web.config.file=/etc/informer-exporter/web/web.yaml"}; len(container.Args) != 5 || !slices.Equal(container.Args[:4], want) {
		t.Fatalf("args %v, want %v and the shard", container.Args, want)
	}
	if env := container.Env; len(env) != 1 || env[0].Name != "POD_INDEX" || env[0].ValueFrom.FieldRef.FieldPath != "metadata.labels['"+appsv1.PodIndexLabel+"']" {
		t.Errorf("env %+v, want the index of the Pod", env)
	}
	text, ok := strings.CutPrefix(container.Args[4], "--shard=")
	for ordinal := range int(*set.Spec.Replicas) {
		shard, err := sharding.Parse(strings.ReplaceAll(text, "$(POD_INDEX)", strconv.Itoa(ordinal)))
		if want := (sharding.Shard{Ordinal: ordinal, Total: int(*set.Spec.Replicas)}); !ok || err != nil || shard != want {
			t.Errorf("%s: Pod %d is shard %v, want %v (%v)", container.Args[4], ordinal, shard, want, err)
		}
	}
}

// overlayOf returns the directory of a kustomization of the base in another namespace, with components.
func overlayOf(t *testing.T, components ...string) string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range append([]string{"base"}, components...) {
		absolute, err := filepath.Abs(base + "/../" + name)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(dir, absolute)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, relative)
	}
	overlay := "namespace: elsewhere\nresources: [" + paths[0] + "]\ncomponents: [" + strings.Join(paths[1:], ", ") + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The paths of the probes in the manifests exist in the program.
func TestDeploymentMatchesTheProgram(t *testing.T) {
	container := readDeployment(t).Spec.Template.Spec.Containers[0]
	e := newFake(t, Options{})
	for name, probe := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil {
			t.Fatalf("no %s probe", name)
		}
		if code := get(e, probe.HTTPGet.Path).Code; code == 404 {
			t.Errorf("%s probe: no path %s", name, probe.HTTPGet.Path)
		}
	}
	if got, want := container.ReadinessProbe.HTTPGet.Path, "/readyz"; got != want {
		t.Errorf("readiness probe requests %s, want %s", got, want)
	}
	if got, want := container.LivenessProbe.HTTPGet.Path, "/livez"; got != want {
		t.Errorf("liveness probe requests %s, want %s", got, want)
	}
}

func readDeployment(t *testing.T) appsv1.Deployment {
	t.Helper()
	data, err := os.ReadFile(base + "/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(data, &deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

func needKubectl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("needs kubectl")
	}
}
