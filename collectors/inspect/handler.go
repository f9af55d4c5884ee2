package inspect

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

// ControllersPath has the state of each controller's queue, with the ten items that have the most retries, and the ten that have been
// retried for the longest time.
const ControllersPath = "/api/v1/controllers"

// ExplainPath has what the program knows about one object: its state in caches, handlers and queues, and what may be wrong. The query
// parameters are resource, such as deployments.apps, namespace and name.
// Queues and reconcile functions know no resource: what they know is of any object with this namespace and name.
const ExplainPath = "/api/v1/explain"

// CachesPath has the estimated memory of each informer's cache with collectors.Checks.Memory, and what other forms of the cache would
// save: without managedFields, of metadata only, or of selected objects.
const CachesPath = "/api/v1/caches"

// NewHandler returns a handler of the paths of this package. It does not authenticate clients: see the package comment. A request
// costs about as much as a scrape, and a request for one object takes a microsecond per queued item.
func NewHandler(obs *collectors.Observer) http.Handler {
	o := core.Of(obs)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ControllersPath, func(w http.ResponseWriter, _ *http.Request) { serve(w, controllers(o)) })
	mux.HandleFunc("GET "+CachesPath, func(w http.ResponseWriter, _ *http.Request) { serve(w, caches(o)) })
	mux.HandleFunc("GET "+ExplainPath, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("resource") == "" || q.Get("name") == "" {
			http.Error(w, "resource and name are required: "+ExplainPath+"?resource=deployments.apps&namespace=shop&name=web", http.StatusBadRequest)
			return
		}
		serve(w, explain(o, q.Get("resource"), q.Get("namespace"), q.Get("name")))
	})
	return mux
}

func explain(o *core.Observer, resource, namespace, name string) inspection.Explanation {
	e := inspection.Explanation{
		Resource: resource, Namespace: namespace, Object: name, Time: time.Now().UTC(),
		Causes: []inspection.Cause{}, Caches: []inspection.Cache{}, Queues: []inspection.Queued{}, // never null
	}
	for _, part := range core.PartsOf[inspection.Explainer](o) {
		part.Explain(&e)
	}
	e.Finish()
	return e
}

// controllersResponse is the response of ControllersPath. Fields may be added; renaming or removing one requires a new version in the
// path.
type controllersResponse struct {
	Name        string             `json:"name"`
	Time        time.Time          `json:"time"`
	Controllers []inspection.Queue `json:"controllers"`
}

func controllers(o *core.Observer) controllersResponse {
	response := controllersResponse{Name: o.Name, Time: time.Now().UTC(), Controllers: []inspection.Queue{}} // never null
	for _, part := range core.PartsOf[inspection.Queues](o) {
		response.Controllers = append(response.Controllers, part.Queues()...)
	}
	return response
}

// cachesResponse is the response of CachesPath. Fields may be added; renaming or removing one requires a new version in the path.
type cachesResponse struct {
	Name   string                   `json:"name"`
	Time   time.Time                `json:"time"`
	Caches []inspection.CacheMemory `json:"caches"`
}

func caches(o *core.Observer) cachesResponse {
	response := cachesResponse{Name: o.Name, Time: time.Now().UTC(), Caches: []inspection.CacheMemory{}} // never null
	for _, part := range core.PartsOf[inspection.Caches](o) {
		response.Caches = append(response.Caches, part.Caches()...)
	}
	return response
}

func serve(w http.ResponseWriter, response any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(response) // fails only if the client is gone
}
