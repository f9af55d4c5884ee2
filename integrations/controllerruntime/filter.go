package controllerruntime

import (
	"log/slog"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/internal/kubeauth"
)

// WithAuthenticationAndAuthorization replaces the function of this name in controller-runtime's package metrics/filters, as the
// FilterProvider of the manager's metrics server. Both need the same permissions, which kubebuilder scaffolds:
//
//	Metrics: metricsserver.Options{SecureServing: true, FilterProvider: controllerruntime.WithAuthenticationAndAuthorization},
//
// During an outage of the API server, controller-runtime's filter responds with 500 once its cached results expire, after a
// minute. This filter continues to serve a token that was allowed on the same path within the last hour, until the token
// expires. Requests with another token get 503, and requests that the API server has denied are never served. The filter remembers
// at most 1,000 tokens and paths by their hash, of each user 20 and one more per minute. It sends its own requests, with a timeout of
// 4 seconds, and does not use the HTTP client. It does not import k8s.io/apiserver.
func WithAuthenticationAndAuthorization(config *rest.Config, _ *http.Client) (metricsserver.Filter, error) {
	filter, err := kubeauth.New(config, kubeauth.Options{Logger: slog.New(logr.ToSlogHandler(log.Log.WithName("metrics-filter")))})
	if err != nil {
		return nil, err
	}
	return func(_ logr.Logger, handler http.Handler) (http.Handler, error) { return filter.Protect(handler), nil }, nil
}
