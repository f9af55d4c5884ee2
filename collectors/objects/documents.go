package objects

import (
	"context"
	"io"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// documents are the OpenAPI v3 documents of an API server.
type documents interface {
	// index returns the addresses of the documents by name, such as "apis/apps/v1".
	index(ctx context.Context) (map[string]string, error)
	// get returns the document with the given address. The caller must close it.
	get(ctx context.Context, address string) (io.ReadCloser, error)
}

const openAPIPath = "/openapi/v3"

// served are the documents that a client can request. client-go's package openapi does the same, but its requests cannot be
// canceled before v0.37.
type served struct{ client rest.Interface }

func (s served) index(ctx context.Context) (map[string]string, error) {
	document, err := s.client.Get().AbsPath(openAPIPath).SetHeader("Accept", runtime.ContentTypeJSON).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer document.Close()
	// The server's path may be below a prefix, which AbsPath adds.
	prefix := strings.TrimSuffix(s.client.Get().AbsPath("/").URL().Path, "/")
	return readIndex(document, prefix)
}

func (s served) get(ctx context.Context, address string) (io.ReadCloser, error) {
	location, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	request := s.client.Get().SetHeader("Accept", runtime.ContentTypeJSON)
	if strings.HasPrefix(location.Path, openAPIPath) {
		request = request.AbsPath(location.Path)
		for name, values := range location.Query() {
			for _, value := range values {
				request = request.Param(name, value)
			}
		}
	} else {
		request = request.RequestURI(address) // an address outside of the prefix
	}
	return request.Stream(ctx)
}
