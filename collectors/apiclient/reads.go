package apiclient

import (
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
)

// Values of the label resource_version of k8s_client_reads_total.
const (
	// versionUnset is the most recent version.
	versionUnset = "unset"
	// versionAny is 0, which accepts any version in the watch cache of the API server.
	versionAny = "any"
	// versionExact is a list at a version, or a watch from it.
	versionExact = "exact"
	// versionNotOlder is a version, or any later one.
	versionNotOlder = "not_older_than"
	// versionContinue is the next page of a list.
	versionContinue = "continue"
	// versionStreaming is a watch that begins with all objects.
	versionStreaming = "streaming"
)

// Values of the label encoding of k8s_client_read_bytes_total.
const (
	encodingGzip     = "gzip"
	encodingIdentity = "identity"
)

func isRead(request apipath.Request) bool {
	return request.Resource != "" && (request.Verb == apipath.VerbList || request.Verb == apipath.VerbWatch)
}

// countRead counts a list or watch, and the bytes of its response while the caller reads them.
func (r *registry) countRead(request apipath.Request, rawQuery string, response *http.Response) {
	resource := r.label(request.Group, request.Resource)
	r.Metrics.Counter(catalog.ClientReads, request.Verb, resource, requestedVersion(request.Verb, rawQuery)).Inc()
	if !r.Metrics.Counts(catalog.ClientReadBytes) || response == nil || response.StatusCode != http.StatusOK || response.Body == nil || response.Body == http.NoBody {
		return
	}
	encoding := encodingIdentity
	if response.Uncompressed || response.Header.Get("Content-Encoding") == encodingGzip {
		encoding = encodingGzip
	}
	response.Body = &countedBody{response.Body, r.Metrics.Counter(catalog.ClientReadBytes, resource, encoding)}
}

// requestedVersion returns the value of the label resource_version.
func requestedVersion(verb, rawQuery string) string {
	if apipath.Parameter(rawQuery, "continue") != "" {
		return versionContinue
	}
	if apipath.Parameter(rawQuery, "sendInitialEvents") == "true" {
		return versionStreaming
	}
	switch version := apipath.Parameter(rawQuery, "resourceVersion"); {
	case version == "":
		return versionUnset
	case apipath.Parameter(rawQuery, "resourceVersionMatch") == "Exact", verb == apipath.VerbWatch && version != "0":
		return versionExact
	case version == "0":
		return versionAny
	}
	return versionNotOlder
}

// countedBody counts the bytes of a body.
type countedBody struct {
	io.ReadCloser
	bytes prometheus.Counter
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.bytes.Add(float64(n))
	}
	return n, err
}
