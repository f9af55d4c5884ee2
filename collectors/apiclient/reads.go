package apiclient

import (
	"io"
	"net/http"
	"sync"

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

// reads counts lists and watches. Its series are created by the first request that they count.
type reads struct {
	mu       sync.RWMutex
	requests map[readKey]prometheus.Counter
	bytes    map[readKey]prometheus.Counter
	// compressed are the bytes of gzip on the wire, by resource.
	compressed map[readKey]prometheus.Counter
}

// readKey has the values of the labels of a series. The verb is empty for bytes.
type readKey struct{ verb, resource, value string }

func isRead(request apipath.Request) bool {
	return request.Resource != "" && (request.Verb == apipath.VerbList || request.Verb == apipath.VerbWatch)
}

// countRead counts a list or watch, and the bytes of its response while the caller reads them.
func (r *registry) countRead(request apipath.Request, rawQuery string, response *http.Response) {
	key := readKey{request.Verb, r.label(request.Group, request.Resource), requestedVersion(request.Verb, rawQuery)}
	r.readCounter(r.reads.requests, key, func() prometheus.Counter {
		return r.Metrics.Counter(catalog.ClientReads, key.verb, key.resource, key.value)
	}).Inc()
	if !r.Metrics.Counts(catalog.ClientReadBytes) || response == nil || response.StatusCode != http.StatusOK || response.Body == nil || response.Body == http.NoBody {
		return
	}
	encoding := encodingIdentity
	if response.Uncompressed || response.Header.Get("Content-Encoding") == encodingGzip {
		encoding = encodingGzip
	}
	received := readKey{"", key.resource, encoding}
	response.Body = &countedBody{response.Body, r.readCounter(r.reads.bytes, received, func() prometheus.Counter {
		return r.Metrics.Counter(catalog.ClientReadBytes, received.resource, received.value)
	})}
}

func (r *registry) readCounter(known map[readKey]prometheus.Counter, key readKey, create func() prometheus.Counter) prometheus.Counter {
	r.reads.mu.RLock()
	c := known[key]
	r.reads.mu.RUnlock()
	if c == nil {
		r.reads.mu.Lock()
		defer r.reads.mu.Unlock()
		c = create() // the same series for the same labels
		known[key] = c
	}
	return c
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
