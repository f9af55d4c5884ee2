package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
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
)

// controller is one replica. All of them keep caches, so that a new leader need not wait for its own; only the leader
// has handlers and workers.
type controller struct {
	options    options
	obs        *collectors.Observer
	elections  *rest.Config
	typed      informers.SharedInformerFactory
	dynamics   dynamicinformer.DynamicSharedInformerFactory
	widgets    informers.GenericInformer
	reconciler *reconciler
	// queue is the leader's.
	queue   *collectors.Queue[string]
	workers sync.WaitGroup
}

func newController(obs *collectors.Observer, config *rest.Config, o options) (*controller, error) {
	// Renewals must not wait behind all other requests: they have a client and a limiter of their own.
	elections := rest.CopyConfig(config)
	elections.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(5, 10)
	config = rest.CopyConfig(config)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(50, 100) // of both clients together, so that it can be observed
	config = obs.WrapConfig(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &controller{options: o, obs: obs, elections: obs.WrapConfig(elections)}
	c.typed = obs.SharedInformerFactory(client, 0, collectors.FactoryOptions{
		TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = labels.FormatLabels(managed) },
	})
	c.dynamics = obs.DynamicSharedInformerFactory(dynamicClient, 10*time.Minute, collectors.ResourceFactoryOptions{})
	c.widgets = c.dynamics.ForResource(widgets)
	c.reconciler = &reconciler{
		client: client, dynamic: dynamicClient,
		widgets:    c.widgets.Lister(),
		configMaps: c.typed.Core().V1().ConfigMaps().Lister(),
		writes:     collectors.NewWrites[string](obs, program),
		failed:     func(key string) int { return c.queue.NumRequeues(key) },
	}
	c.reconciler.cleanUp = collectors.Finalizer(obs, program, finalizer, o.cleanUp, c.reconciler.cleanUpWidget,
		collectors.FinalizerOptions{Enforce: true}) // so that one that hangs does not keep a worker
	c.reconciler.rollBack = collectors.FinalizerRollback(obs, program, finalizer, c.reconciler.rollBackWidget)
	c.reconciler.forgetCleanUp = func(w types.NamespacedName) { obs.ForgetCleanup(program, finalizer, w) }
	return c, nil
}

// run returns when ctx has ended and everything is shut down, or when the leadership is lost.
func (c *controller) run(ctx context.Context) error {
	// The end of ctx by itself ends nothing: ShutdownController ends one thing after the other, the lock last.
	running, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInformers()
	leading, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	c.typed.StartWithContext(running)
	c.dynamics.Start(running.Done())
	// A replica that cannot read must not lead: without the CRD, or the right to list, it would never get further.
	if !cache.WaitForCacheSync(ctx.Done(), c.widgets.Informer().HasSynced, c.typed.Core().V1().ConfigMaps().Informer().HasSynced) {
		slog.Info("ended before the caches have synced", "cause", context.Cause(ctx))
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
	stopIntake := func() error { return nil }
	for wait := true; wait; {
		select {
		case <-elected:
			elected = nil
			if stopIntake, err = c.lead(running); err != nil {
				return err
			}
		case <-released:
			return errors.New("the leadership is lost; a new process is to be a candidate again")
		case <-ctx.Done():
			wait = false
		}
	}
	slog.Info("shutting down", "cause", context.Cause(ctx))
	steps := collectors.ShutdownSteps{
		StopIntake:   func(context.Context) error { return stopIntake() },
		DrainWorkers: func(ctx context.Context) error { return c.drain(ctx) },
		StopInformers: func(context.Context) error {
			stopInformers()
			c.typed.Shutdown()
			c.dynamics.Shutdown()
			return nil
		},
		ReleaseLock: func(ctx context.Context) error {
			resign()
			select {
			case <-released:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		GracePeriod: c.options.grace,
	}
	if c.queue != nil {
		steps.Queue = c.queue
	}
	return c.obs.ShutdownController(ctx, program, steps)
}

// elector is a candidate for the lock, which is a Lease.
func (c *controller) elector(elected func()) (*leaderelection.LeaderElector, error) {
	// The proportions are client-go's: 15, 10 and 2 seconds.
	renew, retry := c.options.lease*10/15, c.options.lease*2/15
	// Its client has a timeout, so that there is time for another attempt within the renew deadline.
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, c.options.namespace, program,
		resourcelock.ResourceLockConfig{Identity: c.options.identity}, c.elections, renew)
	if err != nil {
		return nil, err
	}
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: program, Lock: c.obs.Lock(program, lock, collectors.LockOptions{RetryPeriod: retry}),
		LeaseDuration: c.options.lease, RenewDeadline: renew, RetryPeriod: retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { elected() },
			OnStoppedLeading: func() {},
		},
	})
}

// lead starts the workers and gives them all Widgets. It returns what stops that again.
func (c *controller) lead(ctx context.Context) (stopIntake func() error, err error) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, c.options.backoff)
	c.queue = collectors.NewQueue(c.obs, program, limiter)
	enqueue := func(obj any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			slog.Error("an event without a key", "err", err)
			return
		}
		c.queue.Add(key)
	}
	registration, err := c.widgets.Informer().AddEventHandler(collectors.NamedHandler("enqueue", cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
		DeleteFunc: enqueue,
	}))
	if err != nil {
		return nil, fmt.Errorf("handler of widgets: %w", err)
	}
	reconcile := collectors.Reconciler(c.obs, program, c.reconciler.reconcile,
		collectors.ReconcilerOptions{MaxWorkers: c.options.workers})
	for range c.options.workers {
		c.workers.Go(func() { c.work(ctx, reconcile) })
	}
	slog.Info("leading", "identity", c.options.identity)
	return func() error {
		err := c.widgets.Informer().RemoveEventHandler(registration)
		c.queue.ShutDown()
		return err
	}, nil
}

// work takes items until the queue has been shut down and is empty.
func (c *controller) work(ctx context.Context, reconcile func(context.Context, string) (result, error)) {
	for key, shutdown := c.queue.Get(); !shutdown; key, shutdown = c.queue.Get() {
		c.process(ctx, key, reconcile)
	}
}

func (c *controller) process(ctx context.Context, key string, reconcile func(context.Context, string) (result, error)) {
	defer c.queue.Done(key)
	result, err := attempt(ctx, key, reconcile)
	if outcome := c.queue.Retry(key, err, c.options.maxRetries); outcome.Dropped() {
		slog.Error("gave up until the widget changes", "widget", key, "reason", outcome, "err", err)
	}
	if err == nil && result.RequeueAfter > 0 {
		c.queue.AddAfter(key, result.RequeueAfter)
	}
}

// attempt makes an error of a panic: one broken widget is not to stop the work on all others. The library has counted
// the panic before it gets here.
func attempt(ctx context.Context, key string, reconcile func(context.Context, string) (result, error)) (res result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return reconcile(ctx, key)
}

// drain waits for the workers to end.
func (c *controller) drain(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { defer close(ended); c.workers.Wait() }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
