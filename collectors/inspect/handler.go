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

// NewHandler returns a handler of the paths of this package. It does not authenticate clients: see the package comment. A request
// costs about as much as a scrape of the queues' metrics.
func NewHandler(obs *collectors.Observer) http.Handler {
	o := core.Of(obs)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ControllersPath, func(w http.ResponseWriter, _ *http.Request) { serve(w, controllers(o)) })
	return mux
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

func serve(w http.ResponseWriter, response any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(response) // fails only if the client is gone
}
