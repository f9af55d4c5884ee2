package controllerruntime

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	eventrecorder "sigs.k8s.io/controller-runtime/pkg/recorder"
)

// recorder records the Events of leader election. The manager does not expose its own recorder for them, and the recorder of
// mgr.GetEventRecorderFor ends before leader election does. This is therefore the recorder of a separate cluster.Cluster that has
// no other purpose. It sends no request until the first Event, and ends after the manager.
type recorder struct {
	eventrecorder.Provider
	cluster cluster.Cluster
}

func newRecorder(config *rest.Config, options ctrl.Options) (*recorder, error) {
	c, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme = options.Scheme
		o.Logger = loggerOf(options.Logger)
		o.EventBroadcaster = options.EventBroadcaster //nolint:staticcheck // deprecated, and still an option of managers
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.MultiRESTMapper{}, nil }
		o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return noCache{}, nil }
		o.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return nil, nil }
	})
	if err != nil {
		return nil, err
	}
	return &recorder{c, c}, nil
}

// stop sends the Events recorded so far and ends the recorder. It does not wait, because the manager's graceful shutdown period
// is over by then.
func (r *recorder) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.cluster.Start(ctx) // it ends with its context, and its cache cannot fail
}

// noCache is the cache of a cluster without informers.
type noCache struct {
	cache.Cache
}

// Start implements cache.Informers.
func (noCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
