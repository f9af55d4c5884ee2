package collectors

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// requests holds the series of the requests that an Observer's transports have made. They are made when they are first
// needed, because nobody knows before what a program asks for, and stay: what was asked for may be asked for again.
type requests struct {
	vecs      *vecs
	resources series.Cap

	mu      sync.RWMutex
	answers map[answer]*answerSeries
	// names are the values of the label resource, other for those without room and for what can be none: at most as many
	// of each as the limit is.
	names map[schema.GroupResource]string
	// others is how many of the names are other.
	others int
}

// answer is what series are looked up by.
type answer struct {
	apipath.Request
	code int
}

// noAnswer is the code of a request without an answer.
const noAnswer = 0

// answerSeries are the series that count an answer.
type answerSeries struct {
	requests prometheus.Counter
	duration prometheus.Observer
	// conflicts is nil for what is none.
	conflicts prometheus.Counter
}

// nonResource stands for the resource in requests for paths of none.
const nonResource = "non-resource"

func newRequests(v *vecs) *requests {
	return &requests{vecs: v, answers: map[answer]*answerSeries{}, names: map[schema.GroupResource]string{}}
}

// count counts a request that has ended after the given number of nanoseconds.
func (r *requests) count(request apipath.Request, code int, duration int64) {
	key := answer{request, code}
	var closed bool
	if key.Subresource, closed = subresources[key.Subresource]; !closed {
		key.Subresource = catalog.SubresourceOther
	}
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
	s.duration.Observe(seconds(duration))
	if s.conflicts != nil {
		s.conflicts.Inc()
	}
}

// isOther tells whether a resource is known to be reported as other. Guarded by mu.
func (r *requests) isOther(group, resource string) bool {
	name, known := r.names[schema.GroupResource{Group: group, Resource: resource}]
	return name == series.Other || !known && resource != "" && len(r.names) >= 2*r.resources.Limit
}

// newAnswer makes the series of an answer, unless somebody else just has. Those of resources that are other are not
// remembered by the name that they have in the URL.
func (r *requests) newAnswer(key answer) *answerSeries {
	r.mu.Lock()
	defer r.mu.Unlock()
	resource := r.resource(key.Group, key.Resource)
	if resource == series.Other {
		key.Group, key.Resource = "", series.Other
	}
	if s := r.answers[key]; s != nil {
		return s
	}
	code := catalog.CodeError
	if key.code != noAnswer {
		code = strconv.Itoa(key.code)
	}
	s := &answerSeries{
		requests: r.vecs.counter(catalog.ClientRequests, key.Verb, resource, key.Subresource, code),
		duration: r.vecs.histogram(catalog.ClientRequestDuration, key.Verb, resource),
	}
	if writes(key.Verb) {
		conflicts := r.vecs.counter(catalog.ClientConflicts, resource, key.Subresource)
		if key.code == http.StatusConflict {
			s.conflicts = conflicts
		}
	}
	// The strings of the key are parts of a URL, which need not be kept.
	key.Group, key.Resource = strings.Clone(key.Group), strings.Clone(key.Resource)
	r.answers[key] = s
	return s
}

// resource returns the value of the label resource. What can be no resource's name, and might be no valid label, is not
// told apart; the metrics that autoscalers ask for under a resource's name are among these. Guarded by mu.
func (r *requests) resource(group, resource string) string {
	name, known := r.names[schema.GroupResource{Group: group, Resource: resource}]
	switch {
	case resource == "":
		return nonResource
	case known:
		return name
	case r.isOther(group, resource):
		return series.Other
	}
	// The strings are parts of a URL, which need not be kept.
	key := schema.GroupResource{Group: strings.Clone(group), Resource: strings.Clone(resource)}
	name = series.Other
	if len(validation.IsDNS1123Subdomain(resource)) == 0 && (group == "" || len(validation.IsDNS1123Subdomain(group)) == 0) {
		name = r.resources.Acquire(key.String())
	}
	if name == series.Other {
		if r.others >= r.resources.Limit {
			return name
		}
		r.others++
	}
	r.names[key] = name
	return name
}

// writes tells whether a verb changes something and can thus meet a conflict.
func writes(verb string) bool {
	switch verb {
	case catalog.VerbCreate, catalog.VerbUpdate, catalog.VerbPatch, catalog.VerbDelete, catalog.VerbDeleteCollection:
		return true
	}
	return false
}

// subresources are those that are told apart, and none. The values are what is kept: the keys of a request are parts of its
// URL.
var subresources = func() map[string]string {
	set := map[string]string{"": ""}
	for _, value := range catalog.LabelSubresource.Values {
		set[value] = value
	}
	return set
}()
