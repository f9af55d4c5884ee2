package informer

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestParsePath(t *testing.T) {
	type scope struct{ group, resource, namespace string }
	for path, want := range map[string]scope{
		"/api/v1/pods":                                                  {resource: "pods"},
		"/api/v1/namespaces":                                            {resource: "namespaces"},
		"/api/v1/namespaces/a/pods":                                     {resource: "pods", namespace: "a"},
		"/api/v1/namespaces/namespaces/pods":                            {resource: "pods", namespace: "namespaces"},
		"/apis/apps/v1/deployments":                                     {group: "apps", resource: "deployments"},
		"/apis/apps/v1/namespaces/apis/deployments/":                    {group: "apps", resource: "deployments", namespace: "apis"},
		"/k8s/clusters/c-1/apis/a.example.com/v1alpha1/namespaces/b/xs": {group: "a.example.com", resource: "xs", namespace: "b"},
		"/api/v1":                          {},
		"/apis/apps/v1":                    {},
		"/namespaces/a/pods":               {},
		"/":                                {},
		"":                                 {},
		"/version":                         {},
		"/something/else/v1/namespaces/a/": {},
	} {
		resource, namespace, ok := parsePath(path)
		if ok != (want != scope{}) || ok && (resource != schema.GroupResource{Group: want.group, Resource: want.resource} || namespace != want.namespace) {
			t.Errorf("%s: %v, %q, %t, want %+v", path, resource, namespace, ok, want)
		}
	}
}
