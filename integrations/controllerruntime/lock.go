package controllerruntime

import (
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/leaderelection"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
)

// decorateLock decorates the lock that the manager would use, and sets it in the manager's options. It returns the recorder
// of the lock's Events, or nil if the lock is the caller's. If the lock cannot be created, it changes nothing: the manager
// then fails with the same error as without the decorator.
func decorateLock(obs *collectors.Observer, config *rest.Config, options *ctrl.Options) *recorder {
	if options.LeaderElectionConfig != nil {
		options.LeaderElectionConfig = apiclient.WrapConfig(obs, options.LeaderElectionConfig, apiclient.Options{})
		config = options.LeaderElectionConfig
	}
	lock := options.LeaderElectionResourceLockInterface
	var events *recorder
	if lock == nil {
		var err error
		if events, err = newRecorder(config, *options); err != nil {
			return nil
		}
		if lock, err = newLock(config, events, *options); err != nil {
			return nil
		}
	}
	var retry time.Duration // the default is that of the manager
	if options.RetryPeriod != nil {
		retry = *options.RetryPeriod
	}
	options.LeaderElectionResourceLockInterface = leader.NewLock(obs, lock, leader.Options{RetryPeriod: retry})
	return events
}

// renewDeadline is the manager's default. Half of it is the timeout of the lock's requests.
const renewDeadline = 10 * time.Second

// newLock creates the lock as the manager does, by default in the namespace of the service account.
func newLock(config *rest.Config, events *recorder, options ctrl.Options) (resourcelock.Interface, error) {
	deadline := renewDeadline
	if options.RenewDeadline != nil {
		deadline = *options.RenewDeadline
	}
	return leaderelection.NewResourceLock(rest.CopyConfig(config), events, leaderelection.Options{
		LeaderElection:             true,
		LeaderElectionResourceLock: options.LeaderElectionResourceLock,
		LeaderElectionID:           options.LeaderElectionID,
		LeaderElectionNamespace:    options.LeaderElectionNamespace,
		RenewDeadline:              deadline,
		LeaderLabels:               options.LeaderElectionLabels,
	})
}
