package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// applied applies an overlay with a component to a real API server and returns its Deployment.
func applied(t *testing.T, namespace, component string) (*stack.ControlPlane, kubernetes.Interface, *appsv1.Deployment) {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("needs kubectl")
	}
	plane := stacktest.ControlPlane(t)
	out, err := exec.CommandContext(t.Context(), "kubectl", kubeconfigOf(t, plane.Config()), "apply", "-k", overlay(t, namespace, component)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	client := kubernetes.NewForConfigOrDie(plane.Config())
	deployment, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "informer-exporter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return plane, client, deployment
}

// With the service account, flags and roles of the component kubernetes-auth on a real API server, only an authorized scraper
// has access, and the probes succeed.
func TestKubernetesAuthManifests(t *testing.T) {
	const namespace = "kubernetes-auth-manifests"
	plane, client, deployment := applied(t, namespace, "kubernetes-auth")
	container := deployment.Spec.Template.Spec.Containers[0]
	args := []string{}
	for _, arg := range container.Args[1:] {
		if name, _, isAddress := strings.Cut(arg, "=:"); isAddress {
			arg = name + "=127.0.0.1:0" // the ports may be taken here
		}
		args = append(args, mounted(t, client, deployment, arg))
	}
	exporter := stacktest.GetAccount(t, plane, namespace, deployment.Spec.Template.Spec.ServiceAccountName)
	exporter.AwaitAllowed(t, reviewTokens)
	scraper := stacktest.NewAccount(t, plane, namespace, "scraper")
	scraper.Bind(t, "informer-exporter-metrics")
	scraper.AwaitAllowed(t, authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	})
	stranger := stacktest.NewAccount(t, plane, namespace, "stranger")

	s := serve(t, append(args, kubeconfigOf(t, exporter.Config))...)
	health := "http://" + s.log.wait(t, `"msg":"serving probes without authentication","address":"`, `"`)
	s.log.wait(t, `"msg":"informers synced"`, "\n")
	for token, want := range map[string]int{scraper.Config.BearerToken: http.StatusOK, stranger.Config.BearerToken: http.StatusForbidden, "wrong": http.StatusUnauthorized} {
		if code, _ := get(t, strings.Replace(s.url, "http:", "https:", 1)+"/metrics", "Authorization", "Bearer "+token); code != want {
			t.Errorf("/metrics: %d, want %d", code, want)
		}
	}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
		if probe.HTTPGet.Port.String() != "health" {
			t.Errorf("a probe uses the port %s", probe.HTTPGet.Port.String())
		}
		if code, body := get(t, health+probe.HTTPGet.Path); code != http.StatusOK {
			t.Errorf("%s: %d %s", probe.HTTPGet.Path, code, body)
		}
	}
}

// mounted replaces the path of a mounted file in a flag with the path of a local copy. Other flags are returned unchanged. For a
// Secret, the copy is a new certificate.
func mounted(t *testing.T, client kubernetes.Interface, deployment *appsv1.Deployment, arg string) string {
	t.Helper()
	flag, file, isFile := strings.Cut(arg, "=/etc/")
	if !isFile {
		return arg
	}
	root := t.TempDir()
	pod := deployment.Spec.Template.Spec
	for _, volume := range pod.Volumes {
		at := slices.IndexFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume.Name })
		if at < 0 {
			t.Fatalf("the volume %s is not mounted", volume.Name)
		}
		dir := filepath.Join(root, pod.Containers[0].VolumeMounts[at].MountPath)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		data := map[string]string{}
		if volume.ConfigMap != nil {
			found, err := client.CoreV1().ConfigMaps(deployment.Namespace).Get(t.Context(), volume.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			data = found.Data
		} else {
			pem, key, err := cert.GenerateSelfSignedCertKey("informer-exporter", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			data["tls.crt"], data["tls.key"] = string(pem), string(key)
		}
		for name, content := range data {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(content, "/etc/", root+"/etc/")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return flag + "=" + root + "/etc/" + file
}

// With the service account, flags and Role of the component high-availability on a real API server, one of two exporters is
// elected, and the other one when the first has stopped. The Role allows neither deleting the Lease nor access to other Leases.
func TestHighAvailabilityManifests(t *testing.T) {
	const namespace = "high-availability-manifests"
	plane, client, deployment := applied(t, namespace, "high-availability")
	pod := deployment.Spec.Template.Spec
	if *deployment.Spec.Replicas != 3 || *pod.TerminationGracePeriodSeconds != 30 {
		t.Errorf("%d replicas, which have %d s to stop", *deployment.Spec.Replicas, *pod.TerminationGracePeriodSeconds)
	}
	budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(t.Context(), "informer-exporter", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for what, selector := range map[string]*metav1.LabelSelector{
		"the budget": budget.Spec.Selector, "the first spread": pod.TopologySpreadConstraints[0].LabelSelector, "the second spread": pod.TopologySpreadConstraints[1].LabelSelector,
	} {
		if s, err := metav1.LabelSelectorAsSelector(selector); err != nil || s.Empty() || !s.Matches(labels.Set(deployment.Spec.Template.Labels)) {
			t.Errorf("%s selects %s (error %v), which does not match the exporters", what, s, err)
		}
	}

	exporter := stacktest.GetAccount(t, plane, namespace, pod.ServiceAccountName)
	lease := func(verb, name string) authorizationv1.SubjectAccessReviewSpec {
		return authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Group: "coordination.k8s.io", Resource: "leases", Verb: verb, Name: name,
		}}
	}
	exporter.AwaitAllowed(t, lease("update", "informer-exporter"))
	for _, more := range []authorizationv1.SubjectAccessReviewSpec{lease("update", "another"), lease("get", "another"), lease("delete", "informer-exporter")} {
		if allowed, err := exporter.Allowed(t, more); err != nil || allowed {
			t.Errorf("the account may %s the Lease %s: %v", more.ResourceAttributes.Verb, more.ResourceAttributes.Name, err)
		}
	}

	t.Setenv("POD_NAMESPACE", namespace) // in a Pod, it is read from a file
	const elected = `"msg":"became leader; audits resumed","lease":"` + namespace + `/informer-exporter"`
	args := slices.Concat(pod.Containers[0].Args[1:], []string{kubeconfigOf(t, exporter.Config)})
	first := serve(t, args...)
	first.log.wait(t, elected, "\n")
	second := serve(t, args...)
	second.log.wait(t, `"msg":"informers synced"`, "\n")
	first.stop()
	for err := range first.done {
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	second.log.wait(t, elected, "\n")
	const leader = `controller_leader{lock="` + namespace + `/informer-exporter",name="informer-exporter"} 1`
	if _, body := get(t, second.url+"/metrics"); !strings.Contains(body, leader) {
		t.Errorf("the metrics do not have %s", leader)
	}
}

// overlay returns the directory of a kustomization of the base with a component, as documented in the component.
func overlay(t *testing.T, namespace, component string) string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"base", component} {
		absolute, err := filepath.Abs("../../deploy/kustomize/" + name)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(dir, absolute)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, relative)
	}
	text := "namespace: " + namespace + "\nresources: [" + paths[0] + "]\ncomponents: [" + paths[1] + "]\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
