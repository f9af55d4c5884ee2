package bugs

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// run is one case: a namespace, with a StatefulSet as the resource of an operator and ConfigMaps as what it manages.
type run struct {
	*testing.T
	*rig
	id      string
	config  *rest.Config
	proxy   *faultproxy.Proxy // between the program and the first API server
	once    sync.Once
	crashes atomic.Bool // the operator ends between its writes
	pause   sync.Mutex  // held while a worker or a handler waits
}

func (r *rig) newRun(t *testing.T, id string) *run {
	t.Helper()
	_, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: id}}, metav1.CreateOptions{})
	must(t, err)
	c := &run{T: t, rig: r, id: id, config: stacktest.NewAccount(t, r.plane, id, account).Config}
	c.config.UserAgent, c.config.QPS, c.config.ContentType = id+"/v1", 100, runtime.ContentTypeJSON
	return c
}

// begin ends the preparation of a case: the second API server has everything, and the fault begins.
func (c *run) begin() {
	read := func(config *rest.Config, version string) (state string) {
		client, o := kubernetes.NewForConfigOrDie(config), metav1.ListOptions{ResourceVersion: version}
		sets, err := client.AppsV1().StatefulSets(c.id).List(context.Background(), o)
		maps, err2 := client.CoreV1().ConfigMaps(c.id).List(context.Background(), o)
		if err != nil || err2 != nil {
			return fmt.Sprint(err, err2, version)
		}
		for _, s := range sets.Items {
			state += s.Name + s.ResourceVersion + " "
		}
		for _, m := range maps.Items {
			state += m.Name + m.ResourceVersion + " "
		}
		return state
	}
	await.True(c, "the second API server has it", func() bool { return read(c.second.Config(), "0") == read(c.plane.Config(), "") })
	c.arrive()
	<-c.began
}

func (c *run) arrive() { c.once.Do(c.arrived.Done) }

// end waits for the end of the fault.
func (c *run) end() { time.Sleep(time.Until(c.start.Add(c.hold))) }

// through returns the configuration of a program behind a proxy.
func (c *run) through() *rest.Config {
	host, err := url.Parse(c.config.Host)
	must(c, err)
	c.proxy, err = faultproxy.Start(host.Host)
	must(c, err)
	c.Cleanup(func() { _ = c.proxy.Close() })
	return c.proxy.RESTConfig(c.config)
}

// atSecond returns the configuration of a program at the second API server.
func (c *run) atSecond() *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Host = c.second.Config().Host
	return config
}

// observer returns an Observer of a new process.
func (c *run) observer() *collectors.Observer {
	registry := prometheus.NewRegistry()
	started := prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_start_time_seconds", Help: "Start."})
	started.SetToCurrentTime()
	registry.MustRegister(started)
	checks := collectors.DefaultChecks()
	checks.Mutations = time.Minute
	obs, err := collectors.New(registry, collectors.Options{Name: c.id, Checks: checks})
	must(c, err)
	c.registers[c.id].Store(registry)
	return obs
}

// program is a process: a controller of one key.
type program struct {
	*run
	client   kubernetes.Interface
	factory  informers.SharedInformerFactory
	queue    *queue.Queue[string]
	obs      *collectors.Observer
	ctx      context.Context
	stop     func()
	cancel   func() // ends informers only
	crashed  chan struct{}
	syncs    atomic.Int64 // that began
	done     atomic.Int64 // of these
	onParent func()       // blocks the handler
	do       reconcile
	resync   time.Duration // of the controller
}

type reconcile func(context.Context, *program) error

// launch starts a program.
func (c *run) launch(config *rest.Config, do reconcile, change ...func(*program)) *program {
	p := &program{run: c, obs: c.observer(), crashed: make(chan struct{}), onParent: func() {}, do: do, resync: 10 * time.Hour}
	p.client = kubernetes.NewForConfigOrDie(apiclient.WrapConfig(p.obs, config, apiclient.Options{}))
	p.factory = informer.NewSharedInformerFactory(p.obs, p.client, 0, informer.FactoryOptions{Namespace: c.id})
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 30*time.Second)
	p.queue = queue.NewTypedRateLimitingQueue(p.obs, c.id, limiter, queue.Options[string]{})
	const key = "parent"
	add := func() { p.queue.AddAfter(key, 200*time.Millisecond) } // events in a row are one reconcile
	handler := func(wait func()) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerFuncs{AddFunc: func(any) { wait(); add() }, UpdateFunc: func(any, any) { wait(); add() }, DeleteFunc: func(any) { add() }}
	}
	for _, f := range change {
		f(p)
	}
	must2(c, p.factory.Apps().V1().StatefulSets().Informer(), handler(func() { p.onParent() }))
	must2(c, p.factory.Core().V1().ConfigMaps().Informer(), handler(func() {}))
	ctx, cancel := context.WithCancel(context.Background())
	p.ctx = ctx
	informersCtx, stopInformers := context.WithCancel(ctx)
	p.cancel = stopInformers
	handle := controllers.NewSyncHandler(p.obs, c.id, func(ctx context.Context, _ string) error { p.syncs.Add(1); defer p.done.Add(1); return do(ctx, p) }, controllers.Options{MaxWorkers: 1})
	var worker sync.WaitGroup
	worker.Go(func() {
		p.factory.StartWithContext(informersCtx)
		p.factory.WaitForCacheSync(ctx.Done())
		for p.next(ctx, handle) {
		}
	})
	worker.Go(func() { // a resync of the controller
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(p.resync):
				p.queue.Add(key)
			}
		}
	})
	var once sync.Once
	p.stop = func() {
		once.Do(func() {
			c.registers[c.id].Store(nil)
			cancel()
			p.queue.ShutDown()
			worker.Wait()
			p.factory.Shutdown()
		})
	}
	c.Cleanup(p.stop)
	return p
}

func must2(c *run, inf cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	_, err := inf.AddEventHandler(h)
	must(c, err)
}

// next handles one item, and survives a panic, as controller-runtime does.
func (p *program) next(ctx context.Context, handle func(context.Context, string) error) bool {
	key, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(key)
	err := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
		}()
		return handle(ctx, key)
	}()
	if err == nil {
		p.queue.Forget(key)
	} else if ctx.Err() == nil {
		p.queue.AddRateLimited(key)
	}
	return true
}

// crash ends the process between two writes, in a case with a crash.
func (p *program) crash(ctx context.Context) error {
	if !p.crashes.Load() {
		return nil
	}
	close(p.crashed)
	<-ctx.Done()
	return ctx.Err()
}

// parent returns the cached parent, or nil.
func (p *program) parent() *appsv1.StatefulSet {
	s, err := p.factory.Apps().V1().StatefulSets().Lister().StatefulSets(p.id).Get("parent")
	if err != nil {
		return nil
	}
	return s.DeepCopy()
}

// cached returns a cached child, or nil.
func (p *program) cached(name string) *corev1.ConfigMap {
	m, err := p.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(p.id).Get(name)
	if err != nil {
		return nil
	}
	return m.DeepCopy()
}

// status reports the generation as handled.
func (p *program) status(ctx context.Context, s *appsv1.StatefulSet) error {
	if s.Status.ObservedGeneration == s.Generation {
		return nil
	}
	s.Status.ObservedGeneration = s.Generation
	_, err := p.client.AppsV1().StatefulSets(p.id).UpdateStatus(ctx, s, metav1.UpdateOptions{})
	return err
}

// ensure creates or deletes a child, past the cache.
func ensure(ctx context.Context, client kubernetes.Interface, namespace, name string, want bool, data ...string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil && !want:
		err = maps.Delete(ctx, name, metav1.DeleteOptions{})
	case apierrors.IsNotFound(err) && want:
		return create(ctx, client, namespace, name, data...)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func create(ctx context.Context, client kubernetes.Interface, namespace, name string, data ...string) error {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{}}
	for i := 0; i+1 < len(data); i += 2 {
		m.Data[data[i]] = data[i+1]
	}
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, m, metav1.CreateOptions{})
	return err
}

// What the administrator does, and what the case is judged by.

func (c *run) child(name string) *corev1.ConfigMap {
	m, err := c.admin.CoreV1().ConfigMaps(c.id).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return m
}

func (c *run) uid(name string) string {
	if m := c.child(name); m != nil {
		return string(m.UID)
	}
	return ""
}

// awaits waits until a child exists, or is gone, and returns its UID.
func (c *run) awaits(name string, exists bool) (uid string) {
	await.True(c, fmt.Sprintf("%s: %s exists: %v", c.id, name, exists), func() bool { uid = c.uid(name); return (uid != "") == exists })
	return uid
}

// set returns the parent.
func (c *run) set() *appsv1.StatefulSet {
	s, err := c.admin.AppsV1().StatefulSets(c.id).Get(context.Background(), "parent", metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return s
}

// add creates the parent, with a finalizer if given.
func (c *run) add(replicas int32, finalizers ...string) {
	labels := map[string]string{"app": "parent"}
	_, err := c.admin.AppsV1().StatefulSets(c.id).Create(context.Background(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "parent", Finalizers: finalizers},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}, metav1.CreateOptions{})
	must(c, err)
}

// change changes the parent: its spec, and with it the generation.
func (c *run) change(f func(*appsv1.StatefulSet)) {
	await.NoError(c, "change", func() error {
		s := c.set()
		f(s)
		_, err := c.admin.AppsV1().StatefulSets(c.id).Update(context.Background(), s, metav1.UpdateOptions{})
		return err
	})
}

func (c *run) scale(n int32) { c.change(func(s *appsv1.StatefulSet) { s.Spec.Replicas = &n }) }

// option sets the environment of the template, which stands for a field of the spec.
func (c *run) option(value string) {
	c.change(func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = value })
}

func (c *run) handled() {
	await.True(c, c.id+": the spec is handled", func() bool { s := c.set(); return s.Status.ObservedGeneration == s.Generation })
}

func option(s *appsv1.StatefulSet) string { return s.Spec.Template.Spec.Containers[0].Image }
