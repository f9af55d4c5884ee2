package exporter

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The rules that Rights returns are sufficient to watch every resource that the configuration selects (O5).
func TestRightsAreEnough(t *testing.T) {
	admin, one, two := stacktest.Config(t), stacktest.Namespace(t), stacktest.Namespace(t)
	cluster, err := config.Parse([]byte("resources: [secrets, nodes, '*.apps']\nnamespaces: [" + one + ", " + two + "]"))
	if err != nil {
		t.Fatal(err)
	}
	account := newLimited(t, one)
	rights := cluster.Rights()
	account.Grant(t, "", rights.Cluster...)
	for _, namespace := range rights.Namespaces {
		account.Grant(t, namespace, rights.Namespaced...)
	}
	e := newReal(t, Options{REST: account.Config, Config: cluster})
	run(t, e, admin)
	waitKindUp(t, e, map[string]float64{
		"secrets": 1, "nodes": 1, "controllerrevisions.apps": 1, "daemonsets.apps": 1, "deployments.apps": 1, "replicasets.apps": 1, "statefulsets.apps": 1,
	})
	review := kubernetes.NewForConfigOrDie(account.Config)
	if _, err := review.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("secrets of other namespaces can be listed")
	}
}
