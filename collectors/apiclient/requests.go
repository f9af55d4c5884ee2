package apiclient

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/recent"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// registry holds the series of the requests that pass an Observer's transports. Series are created by the first request of
// their kind, and exist as long as the Observer, because such a request may be repeated at any time.
type registry struct {
	*core.Observer

	mu      sync.RWMutex
	answers map[answer]*answerSeries
	// names are the values of the label resource. The value is other for resources beyond the limit, and for strings that
	// cannot be the name of a resource. Names with that value have a separate limit.
	names map[schema.GroupResource]string
	// others is the number of names with the value other.
	others int

	// written has hashes of the versions in the responses to the last writes, because most patches carry none.
	written recent.Table[uint64]
	// echoes has the watches on which the program's own writes come back.
	echoes *echo.Watches
}

// answer is the key of the series that count a response.
type answer struct {
	apipath.Request
	code int
}

// noAnswer is the code of a request without a response.
const noAnswer = 0

// answerSeries are the series that count a response.
type answerSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer
	// conflicts is nil unless the response is a conflict.
	conflicts prometheus.Counter
}

const (
	// nonResource is the value of the label resource for paths without a resource.
	nonResource = "non-resource"
	// codeError is the value of the label code for a request without a response.
	codeError = "error"
	// subresourceOther is the value of the label subresource for all subresources except those of Kubernetes' own APIs.
	subresourceOther = "other"
)

var _ core.Part = &registry{}

func registryOf(obs *collectors.Observer) *registry {
	echoes := echo.Of(core.Of(obs))
	echoes.ReportWrites()
	return core.PartOf(core.Of(obs), func(o *core.Observer) *registry {
		return &registry{Observer: o, echoes: echoes, answers: map[answer]*answerSeries{}, names: map[schema.GroupResource]string{}}
	})
}

// Collect implements core.Part. All series are in vectors.
func (*registry) Collect(chan<- prometheus.Metric) {}

// count counts a request that took the given number of nanoseconds, with its trace ID unless that is empty.
func (r *registry) count(request apipath.Request, code int, duration int64, traceID string) {
	key := answer{request, code}
	key.Subresource = subresourceOf(request)
	r.mu.RLock()
	s := r.answers[key]
	if s == nil && r.isOther(key.Group, key.Resource) {
		key.Group, key.Resource = "", series.Other
		s = r.answers[key]
	}
	r.mu.RUnlock()
	if s == nil {
		s = r.newAnswer(key)
	}
	s.requests.Inc()
	core.Observe(s.duration, core.Seconds(duration), traceID)
	if s.conflicts != nil {
		s.conflicts.Inc()
	}
}

// isOther reports whether a resource is known to be reported as other. The caller holds mu.
func (r *registry) isOther(group, resource string) bool {
	name, known := r.names[schema.GroupResource{Group: group, Resource: resource}]
	return name == series.Other || !known && resource != "" && len(r.names) >= 2*r.Labels.Resources.Limit
}

// newAnswer returns the series of a response and creates them if they do not exist. Resources that are reported as other
// share a key, which does not contain the name in the URL.
func (r *registry) newAnswer(key answer) *answerSeries {
	r.mu.Lock()
	defer r.mu.Unlock()
	resource := r.resource(key.Group, key.Resource)
	if resource == series.Other {
		key.Group, key.Resource = "", series.Other
	}
	if s := r.answers[key]; s != nil {
		return s
	}
	code := codeError
	if key.code != noAnswer {
		code = strconv.Itoa(key.code)
	}
	s := &answerSeries{
		requests: r.Metrics.Counter(catalog.ClientRequests, key.Verb, resource, key.Subresource, code),
		duration: r.Metrics.Histogram(catalog.ClientRequestDuration, key.Verb),
	}
	if mayConflict(key.Request) {
		conflicts := r.Metrics.Counter(catalog.ClientConflicts, resource, key.Subresource)
		if key.code == http.StatusConflict {
			s.conflicts = conflicts
		}
	}
	// The strings of the key are substrings of a URL, which they would keep in memory.
	key.Group, key.Resource = strings.Clone(key.Group), strings.Clone(key.Resource)
	r.answers[key] = s
	return s
}

// resource returns the value of the label resource. Strings that cannot be the name of a resource, and might not be a valid
// label value, are reported as other, including the metric names that autoscalers request in place of a resource. The
// caller holds mu.
func (r *registry) resource(group, resource string) string {
	name, known := r.names[schema.GroupResource{Group: group, Resource: resource}]
	switch {
	case resource == "":
		return nonResource
	case known:
		return name
	case r.isOther(group, resource):
		return series.Other
	}
	// The strings are substrings of a URL, which they would keep in memory.
	key := schema.GroupResource{Group: strings.Clone(group), Resource: strings.Clone(resource)}
	name = series.Other
	if len(validation.IsDNS1123Subdomain(resource)) == 0 && (group == "" || len(validation.IsDNS1123Subdomain(group)) == 0) {
		name = r.Labels.Resources.Acquire(key.String())
	}
	if name == series.Other {
		if r.others >= r.Labels.Resources.Limit {
			return name
		}
		r.others++
	}
	r.names[key] = name
	return name
}

// mayConflict reports whether a request writes to an object that exists, so that 409 means a conflict. For the creation of an object,
// 409 means AlreadyExists.
func mayConflict(request apipath.Request) bool {
	switch request.Verb {
	case apipath.VerbCreate:
		return request.Subresource != ""
	case apipath.VerbUpdate, apipath.VerbPatch, apipath.VerbDelete, apipath.VerbDeleteCollection:
		return true
	}
	return false
}

// subresourceOf returns the value of the label subresource. It is never part of a URL, which a key would keep in memory.
func subresourceOf(request apipath.Request) string {
	if at := slices.Index(subresources, request.Subresource); at >= 0 {
		return subresources[at]
	}
	return subresourceOther
}

// subresources are the values of the label except subresourceOther.
var subresources = append([]string{""}, catalog.ClientRequests.Values("subresource")...)
