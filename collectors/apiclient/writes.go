package apiclient

import (
	"bytes"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
)

// comparesVersions reports whether a request was a write that may have changed nothing: the API server responded to an update or
// patch with the object.
func comparesVersions(request apipath.Request, response *http.Response) bool {
	return request.Resource != "" && (request.Verb == apipath.VerbUpdate || request.Verb == apipath.VerbPatch) &&
		response != nil && response.StatusCode == http.StatusOK && response.Body != nil && response.Body != http.NoBody
}

// compareVersions counts a write as unchanged if the caller reads the same resourceVersion from the response as the request
// had or, without one, as the response to the last write to the same object. Dry runs and objects in CBOR are not compared.
func (r *registry) compareVersions(request *http.Request, parsed apipath.Request, query string, response *http.Response) {
	if !r.Metrics.Counts(catalog.ClientUnchangedWrites) || apipath.Parameter(query, "dryRun") != "" {
		return
	}
	sent := sentVersion(request)
	object := maphash.String(r.written.seed, request.URL.Host+strings.TrimSuffix(request.URL.Path, "/"+parsed.Subresource))
	subresource := subresourceOf(parsed)
	resource := r.label(parsed.Group, parsed.Resource)
	response.Body = &comparedBody{ReadCloser: response.Body, answered: func(version string) {
		if version == "" {
			return
		}
		if last := r.written.replace(object, version); version == sent || sent == "" && last {
			r.Metrics.Counter(catalog.ClientUnchangedWrites, resource, subresource).Inc()
		}
	}}
}

// maxWritten is the number of objects with a remembered version, in about 400 KiB.
const maxWritten = 10_000

// written remembers the versions in the responses to the last writes, because most patches carry none. Objects and versions are
// hashes.
type written struct {
	seed     maphash.Seed
	mu       sync.Mutex
	versions map[uint64]uint64
}

// replace remembers the version of an object, and reports whether it was the last one already.
func (w *written) replace(object uint64, version string) (same bool) {
	hash := maphash.String(w.seed, version)
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.versions[object]
	if !known && len(w.versions) >= maxWritten {
		for forgotten := range w.versions {
			delete(w.versions, forgotten)
			break
		}
	}
	w.versions[object] = hash
	return known && last == hash
}

// sentVersion returns the resourceVersion in the body of a request, empty if it has none. It reads a copy.
func sentVersion(request *http.Request) string {
	if request.GetBody == nil {
		return ""
	}
	body, err := request.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	version, _ := versionOf(body)
	return version
}

// comparedBody searches for the resourceVersion of an object while the caller reads it.
type comparedBody struct {
	io.ReadCloser
	answered func(version string) // nil once it has been called
	begin    []byte               // of the object
	next     int                  // size of begin at which it is searched again
}

// Read implements io.Reader. It keeps the beginning of the object until it has found the version, usually in the first KiB.
func (b *comparedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.answered == nil {
		return n, err
	}
	b.begin = append(b.begin, p[:min(n, maxScanned-len(b.begin))]...)
	if ended := err != nil || len(b.begin) == maxScanned; ended || len(b.begin) >= b.next {
		if version, sure := versionOf(bytes.NewReader(b.begin)); sure || ended {
			b.answered(version)
			b.answered, b.begin = nil, nil
		}
		b.next = max(2*b.next, 1024)
	}
	return n, err
}
