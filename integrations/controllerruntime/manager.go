package controllerruntime

import (
	"context"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
)

// NewManager replaces ctrl.NewManager and returns an observed manager. config and options are those for ctrl.NewManager and are not
// modified. Fields that options sets, such as NewCache or LeaderElectionResourceLockInterface, are used and decorated. An
// error of ctrl.NewManager is returned unchanged.
func NewManager(config *rest.Config, options ctrl.Options, observe Options) (ctrl.Manager, error) {
	if config == nil {
		return ctrl.NewManager(config, options) // returns the error
	}
	logger := loggerOf(options.Logger)
	obs, err := observe.observer(logger)
	if err != nil {
		return nil, err
	}
	config = apiclient.WrapConfig(obs, config, apiclient.Options{})
	options.NewCache = newCache(obs, logger, options.NewCache)
	var events *recorder
	if options.LeaderElection {
		events = decorateLock(obs, config, &options)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	return &observed{
		Manager:  mgr,
		obs:      obs,
		requests: append([]RequestType{RequestOf[reconcile.Request]()}, observe.Requests...),
		events:   events,
	}, nil
}

// ObserverOf returns the Observer of a manager of NewManager, for functions such as informer.AssertSynced and informer.PauseAudits. It
// returns nil for other managers.
func ObserverOf(mgr ctrl.Manager) *collectors.Observer {
	if m, ok := mgr.(*observed); ok {
		return m.obs
	}
	return nil
}

// observed is a manager that decorates the controllers that are added to it.
type observed struct {
	manager.Manager
	obs      *collectors.Observer
	requests []RequestType
	// events records the Events of leader election, nil if the manager does.
	events *recorder
}

// Add implements manager.Manager.
func (m *observed) Add(r manager.Runnable) error {
	c := embedded(r)
	for _, t := range m.requests {
		if name, ok := t.decorate(m.obs, m.GetLogger(), c); ok {
			return m.Manager.Add(inContext(r, name))
		}
	}
	switch {
	case isUpstream(c):
		m.GetLogger().Info("controller is not observed: add the type of its requests to Options.Requests of controllerruntime.NewManager", "type", typeName(c))
	case isController(r):
		m.GetLogger().Info("controller is not observed: its type does not embed controller.Controller; decorate its reconciler with controllers.NewReconciler", "type", typeName(r))
	case isPlainCache(r):
		m.GetLogger().Info("informers of a cache or cluster are observed only with cache.Options.NewInformer from informer.NewInformerFunc: controllerruntime.NewCluster sets it",
			"type", typeName(r))
		return m.Manager.Add(r)
	default:
		return m.Manager.Add(r)
	}
	return m.Manager.Add(inContext(r, ""))
}

// Start implements manager.Manager.
func (m *observed) Start(ctx context.Context) error {
	if m.events != nil {
		defer m.events.stop()
	}
	return m.Manager.Start(ctx)
}
