package client

import (
	"log/slog"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// WholeObjects holds the clients for whole objects and for schemas.
type WholeObjects struct {
	Leases  coordinationclient.CoordinationV1Interface
	Dynamic dynamic.Interface
	Schemas *objects.Schemas
}

// newWholeObjects returns clients for whole objects, which are reduced to the fields that the exporter reads, and for schemas.
func newWholeObjects(config *rest.Config, client *http.Client, log *slog.Logger) (*WholeObjects, error) {
	custom, err := dynamic.NewForConfigAndClient(config, filtered(client, wholeContent))
	if err != nil {
		return nil, err
	}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(config, bounded.Client(client, nil)) // Schemas limits documents
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	leases, err := coordinationclient.NewForConfigAndClient(config, filtered(client, leaseContent))
	if err != nil {
		return nil, err
	}
	return &WholeObjects{Leases: leases, Dynamic: custom, Schemas: objects.NewSchemas(documents.RESTClient(), log)}, nil
}
