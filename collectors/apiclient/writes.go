package apiclient

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/recent"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// write is a request that may have changed an object.
type write struct {
	apipath.Request
	path, query string
	// sent and answered are when the request was sent, and when the headers of the response arrived.
	sent, answered int64
	// by is the controller that sends the request, nil if there is none.
	by      *echo.Writer
	pending echo.Pending
}

// isWrite reports whether a request may change an object and return it.
func isWrite(request apipath.Request) bool {
	switch request.Verb {
	case apipath.VerbCreate, apipath.VerbUpdate, apipath.VerbPatch, apipath.VerbDelete:
		return request.Resource != ""
	}
	return false
}

// mayWrite reports whether the API server may have responded with an object that the request has changed.
func mayWrite(request apipath.Request, response *http.Response) bool {
	return isWrite(request) && response != nil && response.StatusCode/100 == 2 && response.Body != nil && response.Body != http.NoBody
}

// comparesVersions reports whether a write may have changed nothing.
func comparesVersions(request apipath.Request, response *http.Response) bool {
	return (request.Verb == apipath.VerbUpdate || request.Verb == apipath.VerbPatch) && response.StatusCode == http.StatusOK
}

// observeWrite counts a write as unchanged if the caller reads the same resourceVersion from the response as the request had or, without
// one, as the response to the last write to the same object. If the program watches the resource, any other write has an echo. Dry runs
// and objects in CBOR are ignored, and so are responses without the object, as to most deletes.
func (r *registry) observeWrite(request *http.Request, w write, response *http.Response) {
	watched := r.echoes.Watched(w.Group, w.Resource)
	compared := comparesVersions(w.Request, response) && (watched || r.Metrics.Counts(catalog.ClientUnchangedWrites))
	if !watched && !compared || apipath.Parameter(w.query, "dryRun") != "" {
		w.pending.Answered()
		return
	}
	resource := r.label(w.Group, w.Resource)
	body := &comparedBody{ReadCloser: response.Body}
	if compared {
		sent := sentVersion(request)
		object := recent.Key(request.URL.Host, strings.TrimSuffix(request.URL.Path, "/"+w.Subresource))
		body.unchanged = func(version string) bool {
			hash := recent.Key(version)
			last, known := r.written.Swap(object, hash)
			return version == sent || sent == "" && known && last == hash
		}
	}
	body.answered = func(name, version string) {
		defer w.pending.Answered()
		switch number, comparable := rv.Parse(version); {
		case version == "":
		case body.unchanged != nil && body.unchanged(version):
			r.Metrics.Counter(catalog.ClientUnchangedWrites, resource, subresourceOf(w.Request)).Inc()
		case watched && comparable:
			r.echoes.Wrote(&echo.Write{
				Group: w.Group, Resource: w.Resource, Namespace: apipath.Namespace(w.path), Name: name, Label: resource,
				Version: number, Sent: w.sent, Answered: w.answered, By: w.by,
			})
		}
	}
	response.Body = body
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
	_, version, _ := versionOf(body)
	return version
}

// comparedBody searches for the resourceVersion of an object while the caller reads it.
type comparedBody struct {
	io.ReadCloser
	// unchanged reports whether the object had the version before. It is nil if that is not compared.
	unchanged func(version string) bool
	// answered is called once, with an empty version if the caller closes the body before the version.
	answered func(name, version string)

	mu sync.Mutex
	// closed is set once answered has been called.
	closed bool
	begin  []byte // of the object
	next   int    // size of begin at which it is searched again
}

// Read implements io.Reader. It keeps the beginning of the object until it has found the version, usually in the first KiB.
func (b *comparedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return n, err
	}
	b.begin = append(b.begin, p[:min(n, maxScanned-len(b.begin))]...)
	if ended := err != nil || len(b.begin) == maxScanned; ended || len(b.begin) >= b.next {
		if name, version, sure := versionOf(bytes.NewReader(b.begin)); sure || ended {
			b.end(name, version)
		}
		b.next = max(2*b.next, 1024)
	}
	return n, err
}

// Close implements io.Closer. The caller may close the body while it reads it.
func (b *comparedBody) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.end("", "")
	}
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

// end is called with the lock held.
func (b *comparedBody) end(name, version string) {
	b.answered(name, version)
	b.closed, b.begin = true, nil
}
