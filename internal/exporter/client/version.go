package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// listVersion returns a function that lists the metadata of one object, and returns the version of the list. It sends one request:
// client-go's other clients retry a list that the watch cache cannot serve yet.
func listVersion(config *rest.Config, client *http.Client) (func(ctx context.Context, resource schema.GroupVersionResource, namespace, notOlderThan string) (string, error), error) {
	config = metadata.ConfigFor(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion() // for errors
	config.APIPath = "/"
	rc, err := rest.RESTClientForConfigAndClient(config, bounded.Objects(client))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, resource schema.GroupVersionResource, namespace, notOlderThan string) (string, error) {
		path := []string{"/apis", resource.Group, resource.Version}
		if resource.Group == "" {
			path = []string{"/api", resource.Version}
		}
		if namespace != "" {
			path = append(path, "namespaces", namespace)
		}
		request := rc.Get().AbsPath(strings.Join(append(path, resource.Resource), "/")).MaxRetries(0).
			SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").Param("limit", "1")
		if notOlderThan != "" {
			request.Param("resourceVersion", notOlderThan).Param("resourceVersionMatch", "NotOlderThan")
		}
		result := request.Do(ctx)
		if err := result.Error(); err != nil {
			return "", err
		}
		raw, err := result.Raw()
		if err != nil {
			return "", err
		}
		var list struct {
			Metadata metav1.ListMeta `json:"metadata"`
		}
		err = json.Unmarshal(raw, &list)
		return list.Metadata.ResourceVersion, err
	}, nil
}
