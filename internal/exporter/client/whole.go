package client

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
)

// WholeObjects holds the clients for whole objects and for schemas.
type WholeObjects struct {
	Leases  coordinationclient.CoordinationV1Interface
	Dynamic dynamic.Interface
	Schemas *objects.Schemas
}

// newWholeObjects returns clients for whole objects and for schemas. They share an HTTP client.
func newWholeObjects(config *rest.Config, client *http.Client, definitions *discovery.DiscoveryClient) (*WholeObjects, error) {
	whole := dynamic.ConfigFor(config)
	whole.NegotiatedSerializer = pruning{whole.NegotiatedSerializer, pruneWhole}
	whole.GroupVersion, whole.APIPath = &schema.GroupVersion{}, "/unused"
	custom, err := rest.RESTClientForConfigAndClient(whole, client)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	leases, err := coordinationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	schemas := objects.NewSchemas(definitions.RESTClient())
	return &WholeObjects{Leases: leases, Dynamic: dynamic.New(custom), Schemas: schemas}, nil
}
