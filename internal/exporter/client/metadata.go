package client

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// prunedMetadata is a metadata client. Its lists and watches drop fields that the exporter does not read, if the server sends
// protobuf.
type prunedMetadata struct {
	metadata.Interface
	rest rest.Interface
}

func newMetadata(config *rest.Config, client *http.Client) (metadata.Interface, error) {
	whole, err := metadata.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	config = metadata.ConfigFor(config)
	config.NegotiatedSerializer = pruning{config.NegotiatedSerializer, pruneMetadata}
	config.GroupVersion, config.APIPath = &schema.GroupVersion{}, "/unused"
	pruned, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return prunedMetadata{whole, pruned}, nil
}

// Resource implements metadata.Interface.
func (c prunedMetadata) Resource(resource schema.GroupVersionResource) metadata.Getter {
	getter := c.Interface.Resource(resource)
	return prunedGetter{prunedResource{getter, c.rest, resource, ""}, getter}
}

type prunedGetter struct {
	prunedResource // in all namespaces
	getter         metadata.Getter
}

// Namespace implements metadata.Getter.
func (g prunedGetter) Namespace(namespace string) metadata.ResourceInterface {
	return prunedResource{g.getter.Namespace(namespace), g.rest, g.resource, namespace}
}

type prunedResource struct {
	metadata.ResourceInterface
	rest      rest.Interface
	resource  schema.GroupVersionResource
	namespace string
}

const (
	acceptObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptList   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// List implements metadata.ResourceInterface.
func (r prunedResource) List(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list, err := r.get(acceptList, options).Do(ctx).Get()
	if pruned, ok := list.(*metav1.PartialObjectMetadataList); ok && err == nil {
		return pruned, nil
	}
	if err == nil || runtime.IsNotRegisteredError(err) { // a server that only sends whole objects
		return r.ResourceInterface.List(ctx, options)
	}
	return nil, err
}

// Watch implements metadata.ResourceInterface.
func (r prunedResource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	var timeout time.Duration
	if options.TimeoutSeconds != nil {
		timeout = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	return r.get(acceptObject, options).Timeout(timeout).Watch(ctx)
}

func (r prunedResource) get(accept string, options metav1.ListOptions) *rest.Request {
	path := []string{"apis", r.resource.Group, r.resource.Version}
	if r.resource.Group == "" {
		path = []string{"api", r.resource.Version}
	}
	if r.namespace != "" {
		path = append(path, "namespaces", r.namespace)
	}
	return r.rest.Get().AbsPath(append(path, r.resource.Resource)...).SetHeader("Accept", accept).
		SpecificallyVersionedParams(&options, parameters, parametersVersion)
}

// parameters encodes list options in a query.
var parameters, parametersVersion = func() (runtime.ParameterCodec, schema.GroupVersion) {
	scheme, version := runtime.NewScheme(), schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, version)
	return runtime.NewParameterCodec(scheme), version
}()
