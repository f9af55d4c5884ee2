package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// controller is one replica. Every replica has caches, so that a new leader starts immediately. Only the leader has a
// handler and workers.
type controller struct {
	options    options
	obs        *collectors.Observer
	elections  *rest.Config
	typed      informers.SharedInformerFactory
	dynamic    dynamicinformer.DynamicSharedInformerFactory
	widgets    informers.GenericInformer
	reconciler *reconciler
	limiter    workqueue.TypedRateLimiter[string]
}

func newController(obs *collectors.Observer, config *rest.Config, o options) (*controller, error) {
	// Leader election has a separate rate limiter: renewals must not wait for other requests.
	elections := rest.CopyConfig(config)
	elections.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(5, 10)
	config = rest.CopyConfig(config)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(50, 100) // shared by both clients; observed only if set here
	config = apiclient.WrapConfig(obs, config, apiclient.Options{})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &controller{options: o, obs: obs, elections: apiclient.WrapConfig(obs, elections, apiclient.Options{})}
	c.typed = informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{
		TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = labels.FormatLabels(managed) },
	})
	c.dynamic = informer.NewDynamicSharedInformerFactory(obs, dynamicClient, 10*time.Minute, informer.FactoryOptions{})
	c.widgets = c.dynamic.ForResource(widgets)
	c.limiter = workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, o.backoff)
	r := &reconciler{
		obs: obs, client: client, dynamic: dynamicClient,
		widgets:        c.widgets.Lister(),
		configMaps:     c.typed.Core().V1().ConfigMaps().Lister(),
		writes:         controllers.NewWrites[string](obs, program),
		cleanupTimeout: o.cleanup,
		retries:        c.limiter.NumRequeues,
	}
	r.cleanup = controllers.NewFinalizer(obs, program, finalizer, r.deleteConfigMap, controllers.FinalizerOptions{Deadline: o.cleanup})
	r.rollback = controllers.NewRollback(obs, program, finalizer, r.restoreConfigMap)
	c.reconciler = r
	return c, nil
}

// run returns when ctx has ended and everything is shut down, or when leadership is lost.
func (c *controller) run(ctx context.Context) error {
	// The cancellation of ctx is not passed on: the shutdown stops the parts one after another and releases the lock last.
	running, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInformers()
	leading, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	c.typed.Start(running.Done())
	c.dynamic.Start(running.Done())
	// A replica without synced caches must not become the leader: the CustomResourceDefinition or a permission may be
	// missing.
	if !cache.WaitForCacheSync(ctx.Done(), c.widgets.Informer().HasSynced, c.typed.Core().V1().ConfigMaps().Informer().HasSynced) {
		slog.Info("stopped before the caches were synced", "cause", context.Cause(ctx))
		return nil
	}

	elected, released := make(chan struct{}), make(chan struct{})
	elector, err := c.elector(func() { close(elected) })
	if err != nil {
		return err
	}
	go func() {
		defer close(released)
		elector.Run(leading)
	}()
	steps := shutdown{
		gracePeriod: c.options.grace,
		stopInformers: func(context.Context) error {
			stopInformers()
			c.typed.Shutdown()
			c.dynamic.Shutdown()
			return nil
		},
		releaseLock: func(context.Context) error {
			resign()
			<-released
			return nil
		},
	}
	for wait := true; wait; {
		select {
		case <-elected:
			elected = nil
			if err := c.lead(running, &steps); err != nil {
				return err
			}
		case <-released:
			return errors.New("leadership lost: restart the process to become a candidate again")
		case <-ctx.Done():
			wait = false
		}
	}
	slog.Info("shutting down", "cause", context.Cause(ctx))
	return steps.run(ctx, c.obs)
}

// elector returns a candidate for the lock, which is a Lease.
func (c *controller) elector(elected func()) (*leaderelection.LeaderElector, error) {
	// The proportions are client-go's: 15, 10 and 2 seconds.
	renew, retry := c.options.lease*10/15, c.options.lease*2/15
	// The client of the lock has a timeout, which leaves time for a second attempt before the renew deadline.
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, c.options.namespace, program,
		resourcelock.ResourceLockConfig{Identity: c.options.identity}, c.elections, renew)
	if err != nil {
		return nil, err
	}
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: program, Lock: leader.NewLock(c.obs, lock, leader.Options{RetryPeriod: retry}),
		LeaseDuration: c.options.lease, RenewDeadline: renew, RetryPeriod: retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { elected() },
			OnStoppedLeading: func() {},
		},
	})
}

// lead starts the workers, adds all Widgets to their queue, and sets the shutdown steps that stop them.
func (c *controller) lead(ctx context.Context, steps *shutdown) error {
	q := queue.NewTypedRateLimitingQueue(c.obs, program, c.limiter, queue.Options[string]{})
	enqueue := func(obj any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			slog.Error("event without a key", "err", err)
			return
		}
		q.Add(key)
	}
	registration, err := c.widgets.Informer().AddEventHandler(informer.NamedHandler("enqueue", cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
		DeleteFunc: enqueue,
	}))
	if err != nil {
		return fmt.Errorf("handler of widgets: %w", err)
	}
	w := &workers{
		queue:      q,
		reconcile:  controllers.NewReconciler(c.obs, program, c.reconciler.reconcile, controllers.Options{MaxWorkers: c.options.workers}),
		maxRetries: c.options.maxRetries,
	}
	w.start(ctx, c.options.workers)
	slog.Info("leading", "identity", c.options.identity)
	steps.queue = q
	steps.drainWorkers = w.drain
	steps.stopIntake = func(context.Context) error {
		err := c.widgets.Informer().RemoveEventHandler(registration)
		q.ShutDown()
		return err
	}
	return nil
}
