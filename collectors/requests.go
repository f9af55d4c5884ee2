package collectors

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

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
	return &requests{vecs: v, answers: map[answer]*answerSeries{}}
}

// count counts a request that has ended after the given number of nanoseconds.
func (r *requests) count(request apipath.Request, code int, duration int64) {
	key := answer{request, code}
	if _, closed := subresources[key.Subresource]; !closed {
		key.Subresource = catalog.SubresourceOther
	}
	r.mu.RLock()
	s := r.answers[key]
	r.mu.RUnlock()
	if s == nil {
		s = r.newAnswer(key)
	}
	s.requests.Inc()
	s.duration.Observe(time.Duration(duration).Seconds())
	if s.conflicts != nil {
		s.conflicts.Inc()
	}
}

// newAnswer makes the series of an answer, unless somebody else just has. Those of resources beyond the cap are not
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
// told apart; the metrics that autoscalers ask for under a resource's name are among these.
func (r *requests) resource(group, resource string) string {
	switch {
	case resource == "":
		return nonResource
	case len(validation.IsDNS1123Subdomain(resource)) > 0, group != "" && len(validation.IsDNS1123Subdomain(group)) > 0:
		return series.Other
	}
	return r.resources.Acquire(schema.GroupResource{Group: group, Resource: strings.Clone(resource)}.String())
}

// writes tells whether a verb changes something and can thus meet a conflict.
func writes(verb string) bool {
	switch verb {
	case catalog.VerbCreate, catalog.VerbUpdate, catalog.VerbPatch, catalog.VerbDelete, catalog.VerbDeleteCollection:
		return true
	}
	return false
}

// subresources are those that are told apart, and none.
var subresources = func() map[string]struct{} {
	set := map[string]struct{}{"": {}}
	for _, value := range catalog.LabelSubresource.Values {
		set[value] = struct{}{}
	}
	return set
}()
