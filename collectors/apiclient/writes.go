package apiclient

import (
	"io"
	"net/http"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
)

// maxScanned is the maximum number of bytes of an object that are searched for its resourceVersion.
const maxScanned = 256 * 1024

// comparesVersions reports whether a request was a write that may have changed nothing: the API server responded to an update or
// patch with the object.
func comparesVersions(request apipath.Request, response *http.Response) bool {
	return request.Resource != "" && (request.Verb == apipath.VerbUpdate || request.Verb == apipath.VerbPatch) &&
		response != nil && response.StatusCode == http.StatusOK && response.Body != nil && response.Body != http.NoBody
}

// compareVersions counts a write as unchanged if the caller reads the same resourceVersion from the response as the request
// had. Writes without a version, dry runs and objects in CBOR are not compared.
func (r *registry) compareVersions(request *http.Request, parsed apipath.Request, query string, response *http.Response) {
	if !r.Metrics.Counts(catalog.ClientUnchangedWrites) || request.GetBody == nil || apipath.Parameter(query, "dryRun") != "" {
		return
	}
	sent := sentVersion(request)
	if sent == "" {
		return
	}
	subresource, closed := subresources[parsed.Subresource]
	if !closed {
		subresource = subresourceOther
	}
	resource := r.label(parsed.Group, parsed.Resource)
	response.Body = &comparedBody{ReadCloser: response.Body, sent: sent, unchanged: func() {
		r.Metrics.Counter(catalog.ClientUnchangedWrites, resource, subresource).Inc()
	}}
}

// sentVersion returns the resourceVersion in the body of a request, empty if it has none. It reads a copy.
func sentVersion(request *http.Request) string {
	body, err := request.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	var scan versionScan
	part := make([]byte, 4096)
	for {
		n, err := body.Read(part)
		scan.feed(part[:n])
		if scan.done || err != nil {
			return scan.end()
		}
	}
}

// comparedBody searches for the resourceVersion of an object while the caller reads it.
type comparedBody struct {
	io.ReadCloser
	sent      string
	unchanged func()
	scan      versionScan
	compared  bool
}

// Read implements io.Reader.
func (b *comparedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.compared {
		b.scan.feed(p[:n])
		if b.scan.done || err != nil {
			b.compared = true
			if b.scan.end() == b.sent {
				b.unchanged()
			}
			b.scan = versionScan{}
		}
	}
	return n, err
}
