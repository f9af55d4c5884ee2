package controllerruntime

import (
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
)

// NewCluster replaces cluster.New for an additional cluster, and observes its requests and informers. Give each cluster an Observer
// with a unique name, such as "my-operator/west": no other label distinguishes the informers of two clusters.
//
//	west, err := collectors.New(metrics.Registry, collectors.Options{Name: "my-operator/west"})
//	c, err := controllerruntime.NewCluster(west, config)
//	err = mgr.Add(c)
//
// Handlers of the manager's controllers are named after their controller in all clusters.
func NewCluster(obs *collectors.Observer, config *rest.Config, options ...cluster.Option) (cluster.Cluster, error) {
	if config == nil {
		return cluster.New(config, options...) // returns the error
	}
	decorated := func(o *cluster.Options) { o.NewCache = newCache(obs, loggerOf(o.Logger), o.NewCache) }
	return cluster.New(apiclient.WrapConfig(obs, config, apiclient.Options{}), append(options[:len(options):len(options)], decorated)...)
}
