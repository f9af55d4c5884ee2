package controllerruntime_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestEmbeddedControllers: a controller in a struct that is added in its place is observed, and the struct keeps its own methods.
func TestEmbeddedControllers(t *testing.T) {
	for name, wrap := range map[string]func(controller.Controller) manager.Runnable{
		"struct":        func(c controller.Controller) manager.Runnable { return embedding{c} },
		"pointer":       func(c controller.Controller) manager.Runnable { return &embedding{c} },
		"twice":         func(c controller.Controller) manager.Runnable { return struct{ Inner }{Inner{embedding{c}}} },
		"other methods": func(c controller.Controller) manager.Runnable { return struct{ manager.Runnable }{c} },
	} {
		t.Run(name, func(t *testing.T) {
			mgr, messages := logging(t, ctrl.Options{})
			c := unmanaged(t)
			if err := mgr.Add(wrap(c)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reconcile(t.Context(), ctrl.Request{}); err != nil {
				t.Fatal(err)
			}
			if n := mgr.samples().Sum("controller_reconcile_total", "controller", "test", "result", "success"); n != 1 {
				t.Errorf("%v reconciles, want 1", n)
			}
			if got := messages.all(); len(got) != 0 {
				t.Errorf("logged %q", got)
			}
		})
	}
	if r, ok := controllerruntime.InContext(embedding{}).(manager.LeaderElectionRunnable); !ok || r.NeedLeaderElection() {
		t.Error("the controller needs leader election, unlike the struct")
	}
	if _, ok := controllerruntime.InContext(struct{ manager.Runnable }{}).(manager.LeaderElectionRunnable); ok {
		t.Error("the runnable has a method that the struct does not have")
	}
	warms := controllerruntime.InContext(struct {
		manager.Runnable
		warm
	}{})
	if w, ok := warms.(interface{ Warmup(context.Context) error }); !ok || w.Warmup(t.Context()) == nil {
		t.Error("the runnable has lost its warmup")
	}
	if _, ok := warms.(manager.LeaderElectionRunnable); ok {
		t.Error("the runnable has a method that the struct does not have")
	}
}

// warm has a warmup that fails.
type warm struct{}

func (warm) Warmup(context.Context) error { return errors.New("cold") }

// Inner embeds a controller by way of another struct.
type Inner struct{ controller.Controller }

// TestNotices: a cache, controller or queue that is not observed is logged once, with what to do. Nothing else is logged.
func TestNotices(t *testing.T) {
	own := func(*rest.Config, cache.Options) (cache.Cache, error) {
		return cache.New(unreachable(), cache.Options{Mapper: configMapper()}) // without the options of the manager
	}
	for name, c := range map[string]struct {
		options ctrl.Options
		want    string // "" for no message
		do      func(*testing.T, *runningManager) error
	}{
		"a function": {do: func(_ *testing.T, mgr *runningManager) error {
			return mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil }))
		}},
		"a controller": {do: func(t *testing.T, mgr *runningManager) error {
			newController(t, mgr, controller.Options{})
			return nil
		}},
		"a controller of unknown requests": {want: "Options.Requests", do: func(t *testing.T, mgr *runningManager) error {
			newController(t, mgr, controller.TypedOptions[request]{})
			return nil
		}},
		"a type that hides a controller": {want: "controllers.NewReconciler", do: func(t *testing.T, mgr *runningManager) error {
			return mgr.Add(hiding{embedding{unmanaged(t)}})
		}},
		"a queue of its own": {want: "NewQueue", do: func(t *testing.T, mgr *runningManager) error {
			c := newController(t, mgr, controller.Options{
				NewQueue: func(string, workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
					return &ownQueue{}
				},
			})
			f, _ := controllerruntime.FieldsOf[ctrl.Request](c.(manager.Runnable))
			f.NewQueue(f.Name, f.Limiter)
			return nil
		}},
		"a cluster": {want: "controllerruntime.NewCluster", do: func(_ *testing.T, mgr *runningManager) error {
			c, err := cluster.New(mgr.GetConfig())
			if err != nil {
				return err
			}
			return mgr.Add(c)
		}},
		"an observed cluster": {do: func(t *testing.T, mgr *runningManager) error {
			obs, _ := observertest.New(t)
			c, err := controllerruntime.NewCluster(obs, mgr.GetConfig())
			if err != nil {
				return err
			}
			return mgr.Add(c)
		}},
		"a cache": {want: "informer.NewInformerFunc", do: func(_ *testing.T, mgr *runningManager) error {
			c, err := cache.New(mgr.GetConfig(), cache.Options{Mapper: configMapper()})
			if err != nil {
				return err
			}
			return mgr.Add(c)
		}},
		"a cache with options of its own": {options: ctrl.Options{NewCache: own}, want: "NewCache", do: getInformer},
		"the cache":                       {do: getInformer},
		"a controller that is not added":  {want: "not added to the manager", do: watchUnmanaged},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return configMapper(), nil }
			mgr, messages := logging(t, c.options)
			if err := c.do(t, mgr); err != nil {
				t.Fatal(err)
			}
			got := messages.all()
			if c.want == "" && len(got) == 0 {
				return
			}
			if c.want == "" || len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("logged %q, want %q once", got, c.want)
			}
		})
	}
}

// hiding has the methods of a controller, which it does not embed.
type hiding struct{ c controller.Controller }

func (h hiding) Start(ctx context.Context) error { return h.c.Start(ctx) }
func (h hiding) Watch(s source.Source) error     { return h.c.Watch(s) }
func (h hiding) GetLogger() logr.Logger          { return h.c.GetLogger() }
func (h hiding) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return h.c.Reconcile(ctx, r)
}

func unmanaged(t *testing.T) controller.Controller {
	t.Helper()
	c, err := controller.NewUnmanaged("test", controller.Options{
		Reconciler: reconcile.Func(succeed), Logger: logr.Discard(), SkipNameValidation: new(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// getInformer gets an informer of the manager's cache twice.
func getInformer(t *testing.T, mgr *runningManager) error {
	for range 2 {
		if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
			return err
		}
	}
	return nil
}

// watchUnmanaged starts two sources, as a controller does that was not added to the manager.
func watchUnmanaged(t *testing.T, mgr *runningManager) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	defer queue.ShutDown()
	for range 2 {
		kind := source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})
		if err := kind.Start(t.Context(), queue); err != nil {
			return err
		}
	}
	await.True(t, "both sources have added their handler", func() bool {
		return mgr.samples().Sum("k8s_informer_handlers") == 2
	})
	return nil
}

func configMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return m
}

// log holds the messages of a manager.
type log struct {
	mu       sync.Mutex
	messages []string
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages)
}

// logging returns a manager and its messages.
func logging(t *testing.T, options ctrl.Options) (*runningManager, *log) {
	t.Helper()
	l := &log{}
	options.Logger = funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.messages = append(l.messages, args)
	}, funcr.Options{})
	registry := prometheus.NewPedanticRegistry()
	mgr, err := controllerruntime.NewManager(unreachable(), quiet(options), controllerruntime.Options{Name: "test", Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	return &runningManager{Manager: mgr, t: t, registry: registry}, l
}
