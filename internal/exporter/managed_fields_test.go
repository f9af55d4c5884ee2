package exporter

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// An API server that does not offer lists without managedFields answers as without the parameter, in protobuf and in JSON.
func TestListsWithoutManagedFields(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	core := kubernetes.NewForConfigOrDie(admin).CoreV1()
	for n := range 20 {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a-", n)}, Data: map[string]string{"key": "value"}}
		if _, err := core.ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const as, drop = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", ";drop=metadata.managedFields"
	for _, format := range []string{"application/vnd.kubernetes.protobuf", "application/json"} {
		list := func(accept string) []byte {
			t.Helper()
			body, err := core.RESTClient().Get().Namespace(namespace).Resource("configmaps").SetHeader("Accept", accept).DoRaw(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", accept, err)
			}
			return body
		}
		with, without := list(format+as), list(format+drop+as)
		t.Logf("%s: %d bytes, and %d bytes with %s", format, len(with), len(without), drop)
		if managed := strings.Contains(string(without), "f:data"); len(without) > len(with) || managed != (len(without) == len(with)) {
			t.Errorf("%s: %d bytes, and %d with %s; managedFields: %v", format, len(with), len(without), drop, managed)
		}
	}
	objects, err := metadata.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	all, err := objects.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bytes, managed := all.Size(), 0
	for i := range all.Items {
		all.Items[i].ManagedFields = nil
	}
	managed = bytes - all.Size()
	t.Logf("managedFields are %d of %d bytes", managed, bytes)
	if managed <= 0 {
		t.Error("the objects have no managedFields")
	}
}
