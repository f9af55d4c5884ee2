package exporter

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// With what Rights returns, everything can be watched that the configuration asks for.
func TestRightsAreEnough(t *testing.T) {
	admin, one, two := stacktest.Config(t), stacktest.Namespace(t), stacktest.Namespace(t)
	config, err := ParseConfig([]byte("resources: [secrets, nodes, '*.apps']\nnamespaces: [" + one + ", " + two + "]"))
	if err != nil {
		t.Fatal(err)
	}
	account := newLimited(t, one)
	rights := config.Rights()
	grantRules(t, admin, one, "", rights.Cluster...)
	for _, namespace := range rights.Namespaces {
		grantRules(t, admin, one, namespace, rights.Namespaced...)
	}
	e := newReal(t, Options{REST: account, Config: config})
	run(t, e, admin)
	waitKindUp(t, e, map[string]float64{
		"secrets": 1, "nodes": 1, "controllerrevisions.apps": 1, "daemonsets.apps": 1, "deployments.apps": 1, "replicasets.apps": 1, "statefulsets.apps": 1,
	})
	review := kubernetes.NewForConfigOrDie(account)
	if _, err := review.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("secrets of other namespaces may be listed")
	}
}

// Every field of the configuration is documented, under the name that it has in the file.
func TestConfigReference(t *testing.T) {
	sections, err := ConfigReference()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []any{Config{}, Resource{}, Checks{}} {
		typ, section := reflect.TypeOf(v), sections[i]
		if section.Name != typ.Name() || len(section.Fields) != typ.NumField() || section.Doc == "" {
			t.Fatalf("%s has %d fields; documented are %s and %d", typ.Name(), typ.NumField(), section.Name, len(section.Fields))
		}
		for j, f := range section.Fields {
			field := typ.Field(j)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if f.Name != name || f.Type == "" || !strings.HasPrefix(f.Doc, "`"+name+"` ") || !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s.%s is documented as %+v", typ.Name(), field.Name, f)
			}
		}
	}
}
