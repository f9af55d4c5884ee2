package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// runbookOutputs are what commands print, by a part that identifies them, on a cluster with the objects of seedRunbooks.
var runbookOutputs = map[string]string{
	`get --raw '/readyz?verbose'`:              "readyz check passed",
	`get lease "`:                              "holderIdentity: holder-1",
	`get leases -A --field-selector`:           "holderIdentity: holder-1",
	`describe pod`:                             "replica-0",
	`delete pod`:                               `pod "replica-0" deleted`,
	`rollout restart`:                          "deployment.apps/example restarted",
	`rollout history`:                          "deployment.apps/example",
	`deployments,statefulsets,daemonsets,pods`: "pod/replica-0",
	`auth can-i`:                               "no",
	`| wc -l`:                                  "\n",
	`FINALIZERS:`:                              "held",
	`OBSERVED:.status`:                         "lagging",
	`kubectl api-resources`:                    "configmap/held",
	`grep -i "${FINALIZER%%[./]*}"`:            "example",
	`RENEWED:.spec.renewTime`:                  "election",
	`-n default get endpointslices`:            "",
	`get pods -A -o wide -l`:                   "exporter-0",
	`get services,endpointslices -A`:           "informer-exporter",
	`get events -A`:                            "informer-exporter",
	`describe configmaps`:                      "held",
	`curl -kv`:                                 "ok",
	`get namespace "$NAMESPACE"`:               "",
	`kubectl get apiservices | grep -v `:       "",
	`kubectl get nodes | grep -v `:             "",
	`get leases -A --no-headers`:               "kube-system",
	`set resources`:                            "deployment.apps/example resource requirements updated",
	`get prometheuses`:                         "",
	`get configmaps -A -o yaml`:                "",
	`get prometheusrules`:                      "0\n",
	`WRITERS:`:                                 "held",
	`--output-watch-events`:                    "held",
	`grep -iE 'qps|burst'`:                     "",
	`'watch.?namespace|-namespace'`:            "",
	`get deployments,statefulsets -A`:          "deployment.apps/example",
	`get pods -l component=kube-apiserver`:     "",
	` logs `:                                   "", // of a Pod without a node
	`port-forward`:                             "",
	`top pods`:                                 "",
	`top pod "$POD" --containers`:              "{}",
	`get pod "$POD" -o wide`:                   "replica-0",
	`RESTARTS:.status`:                         "replica-0",
	`/api/v1/namespaces?resourceVersion=0`:     "NamespaceList",
}

// tolerated are messages that are expected in a cluster without nodes, metrics API and Pods of the control plane.
var tolerated = regexp.MustCompile(`^error: unable to forward port because pod is not running|^curl: |^No resources found( in (kube-system|default) namespace\.)?$|Metrics API not available|^Warning: v1 Endpoints is deprecated|^error: the server doesn't have a resource type "(prometheuses|prometheusrules)"`)

// TestRunbookCommandsWork runs every command of the runbooks, with the variables as the alert sets them, on a real API server
// without nodes.
func TestRunbookCommandsWork(t *testing.T) {
	config := stacktest.Private(t, stack.Options{}).Config() // not the chain: its exporter would see the objects
	client := kubernetes.NewForConfigOrDie(config)
	namespace := stacktest.NamespaceIn(t, config)
	s := newShell(t, kubectlDir(t), "KUBECONFIG="+stacktest.Kubeconfig(t, config))
	values := map[string]string{
		"namespace": namespace, "pod": "replica-0", "instance": "127.0.0.1:1", "cluster": "c", "name": "n", "job": "j",
		"informer_type": "configmaps", "lock": namespace + "/election", "lease": "election", "finalizer": "example.com/cleanup",
		"controller": "c", "handler": "h", "client": "system:serviceaccount:" + namespace + ":replica/agent",
	}
	const lagging = "ingresses.networking.k8s.io"
	chosen := func(resource string) string {
		return "REPLICA=replica-0 WORKLOAD=deployment/example RESOURCE=" + resource + "\n"
	}

	ran, printed := map[string]bool{}, map[string]bool{}
	for _, r := range rulesOf(alerts.Config{}) {
		labels, resource := values, "configmaps"
		switch r.Alert {
		case "ClusterGenerationLag":
			labels = map[string]string{"namespace": namespace, "informer_type": lagging, "cluster": "c"}
		case "ControllerItemsDropped":
			resource = lagging
		}
		variables := expand(t, r.Annotations[alerts.VariablesAnnotation], labels)
		a, _ := alerts.ByName(r.Alert)
		for _, command := range a.Runbook.Commands {
			script := variables + "\n" + chosen(resource) + strings.Replace(command.Code, "--retry 9", "--retry 0", 1)
			if ran[script] {
				continue
			}
			ran[script] = true
			seedRunbooks(t, client, namespace)
			out, stderr, _ := s.run(t, script)
			for line := range strings.Lines(stderr) {
				if !tolerated.MatchString(strings.TrimSpace(line)) && !strings.Contains(script, "curl -kv") {
					t.Errorf("%s: %s\n%s", r.Alert, command.Code, line)
				}
			}
			known := false
			for part, want := range runbookOutputs {
				if !strings.Contains(command.Code, part) {
					continue
				}
				known, printed[part] = true, true
				if !strings.Contains(out, want) {
					t.Errorf("%s: %s\nprinted %q, want %q\n%s", r.Alert, command.Code, out, want, stderr)
				}
			}
			if !known {
				t.Errorf("%s: add what it prints to runbookOutputs: %s\nprinted %q", r.Alert, command.Code, out)
			}
		}
	}
	for part := range runbookOutputs {
		if !printed[part] {
			t.Errorf("no command has %s", part)
		}
	}
	t.Logf("%d commands ran", len(ran))
}

// seedRunbooks creates the objects that the commands look for, unless they exist.
func seedRunbooks(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	ctx := t.Context()
	meta := func(name string) metav1.ObjectMeta {
		labels := map[string]string{"app.kubernetes.io/name": "informer-exporter", "app.kubernetes.io/component": "exporter"}
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
	}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "example"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/none"}}},
	}
	holder, replicas := "holder-1", int32(0)
	held := &corev1.ConfigMap{ObjectMeta: meta("held")}
	held.Finalizers = []string{"example.com/cleanup"}
	for _, create := range []func() error{
		func() error {
			_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta("replica-0"), Spec: template.Spec}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta("exporter-0"), Spec: template.Spec}, metav1.CreateOptions{})
			return err
		},
		func() error {
			d := &appsv1.Deployment{ObjectMeta: meta("example"), Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template}}
			_, err := client.AppsV1().Deployments(namespace).Create(ctx, d, metav1.CreateOptions{})
			return err
		},
		func() error {
			l := &coordinationv1.Lease{ObjectMeta: meta("election"), Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
			_, err := client.CoordinationV1().Leases(namespace).Create(ctx, l, metav1.CreateOptions{})
			return err
		},
		func() error {
			if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, held, metav1.CreateOptions{}); err != nil {
				return err
			}
			return client.CoreV1().ConfigMaps(namespace).Delete(ctx, held.Name, metav1.DeleteOptions{})
		},
		func() error {
			i := &networkingv1.Ingress{ObjectMeta: meta("lagging"), Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "x", Port: networkingv1.ServiceBackendPort{Number: 1}}}}}
			_, err := client.NetworkingV1().Ingresses(namespace).Create(ctx, i, metav1.CreateOptions{})
			return err
		},
		func() error {
			s := &corev1.Service{ObjectMeta: meta("informer-exporter"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
			_, err := client.CoreV1().Services(namespace).Create(ctx, s, metav1.CreateOptions{})
			return err
		},
		func() error {
			e := &corev1.Event{ObjectMeta: meta("warning"), Type: corev1.EventTypeWarning, Reason: "BackOff", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "informer-exporter-0"}}
			_, err := client.CoreV1().Events(namespace).Create(ctx, e, metav1.CreateOptions{})
			return err
		},
	} {
		if err := create(); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}
