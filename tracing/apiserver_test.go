package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
	"github.com/informer-exporter/informer-exporter/tracing"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// traced is a controller of ConfigMaps on the real API server. An event of a Secret adds the ConfigMap with the same name.
type traced struct {
	t         *testing.T
	client    kubernetes.Interface // not traced
	namespace string
	exporter  *tracetest.InMemoryExporter
	registry  *prometheus.Registry

	mu sync.Mutex
	// reconcile is called for each item, with a traced client.
	reconcile func(ctx context.Context, client kubernetes.Interface, name string) error
}

// newTraced starts the controller. Its queue has one worker.
func newTraced(t *testing.T) *traced {
	t.Helper()
	c := &traced{t: t, client: kubernetes.NewForConfigOrDie(stacktest.Config(t)), namespace: stacktest.Namespace(t), exporter: tracetest.NewInMemoryExporter()}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(c.exporter))
	var obs *collectors.Observer
	obs, c.registry = observertest.New(t, func(o *collectors.Options) {
		o.Tracer = tracing.NewTracer(provider, tracing.TracerOptions{ObjectNames: true})
	})
	client := kubernetes.NewForConfigOrDie(apiclient.WrapConfig(obs, stacktest.Config(t), apiclient.Options{}))
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
	q := queue.NewTypedRateLimitingQueue(obs, "labels", limiter, queue.Options[string]{})
	enqueue := func(object any) {
		if name := object.(metav1.Object).GetName(); name != "kube-root-ca.crt" && name != "before" {
			q.Add(name)
		}
	}
	factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: c.namespace})
	for _, inf := range []cache.SharedIndexInformer{factory.Core().V1().ConfigMaps().Informer(), factory.Core().V1().Secrets().Informer()} {
		if _, err := inf.AddEventHandler(informer.NamedHandler("enqueue", cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
		})); err != nil {
			t.Fatal(err)
		}
	}
	sync := controllers.NewSyncHandler(obs, "labels", func(ctx context.Context, name string) error {
		c.mu.Lock()
		reconcile := c.reconcile
		c.mu.Unlock()
		return reconcile(ctx, client, name)
	}, controllers.Options{})
	c.create("before") // only to be listed
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for name, shutdown := q.Get(); !shutdown; name, shutdown = q.Get() {
			if err := sync(ctx, name); err != nil {
				q.AddRateLimited(name)
			} else {
				q.Forget(name)
			}
			q.Done(name)
		}
	}()
	t.Cleanup(func() { cancel(); factory.Shutdown(); q.ShutDown(); <-ended })
	return c
}

// reconcileWith sets the reconcile function of the controller.
func (c *traced) reconcileWith(f func(ctx context.Context, client kubernetes.Interface, name string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconcile = f
}

func (c *traced) create(name string) {
	c.t.Helper()
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Create(c.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *traced) update(name, value string) {
	c.t.Helper()
	patch := fmt.Appendf(nil, `{"data":{"key":%q}}`, value)
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Patch(c.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// spans returns the spans with a name and for an object, in the order of their end.
func (c *traced) spans(name, object string) (found tracetest.SpanStubs) {
	for _, s := range c.exporter.GetSpans() {
		if s.Name == name && (object == "" || slices.Contains(s.Attributes, attribute.String("k8s.object.name", object))) {
			found = append(found, s)
		}
	}
	return found
}

// await waits for n such spans.
func (c *traced) await(n int, name, object string) tracetest.SpanStubs {
	c.t.Helper()
	await.True(c.t, fmt.Sprintf("%d spans %s of %s", n, name, object), func() bool { return len(c.spans(name, object)) >= n })
	return c.spans(name, object)
}

// child returns the child of a span with a name.
func (c *traced) child(parent tracetest.SpanStub, name string) tracetest.SpanStub {
	c.t.Helper()
	for _, s := range c.spans(name, "") {
		if s.Parent.SpanID() == parent.SpanContext.SpanID() && s.Parent.TraceID() == parent.SpanContext.TraceID() {
			return s
		}
	}
	c.t.Fatalf("%s has no child %s", parent.Name, name)
	return tracetest.SpanStub{}
}

// relations returns the relations of the links of a span, each of which must lead to one of the targets.
func (c *traced) relations(s tracetest.SpanStub, targets ...tracetest.SpanStub) (relations []string) {
	c.t.Helper()
	for _, l := range s.Links {
		if !slices.ContainsFunc(targets, func(t tracetest.SpanStub) bool {
			return l.SpanContext.TraceID() == t.SpanContext.TraceID() && l.SpanContext.SpanID() == t.SpanContext.SpanID()
		}) {
			c.t.Errorf("a link of %s leads to none of %d spans", s.Name, len(targets))
		}
		relations = append(relations, l.Attributes[0].Value.AsString())
	}
	return relations
}

const (
	deliverConfigMap = "informer.deliver configmaps"
	reconcileSpan    = "reconcile labels"
	waitSpan         = "workqueue.wait labels"
)

// The linked traces of an update lead from the watch event to the write without a gap (S18).
func TestUpdateOnARealServer(t *testing.T) {
	c := newTraced(t)
	var own trace.SpanContext
	c.reconcileWith(func(ctx context.Context, client kubernetes.Interface, name string) error {
		m, err := client.CoreV1().ConfigMaps(c.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil || m.Data["key"] == "" || m.Labels["key"] != "" {
			return err
		}
		own = trace.SpanContextFromContext(ctx) // as the program's own spans and log lines would find it
		m.Labels = map[string]string{"key": m.Data["key"]}
		_, err = client.CoreV1().ConfigMaps(c.namespace).Update(ctx, m, metav1.UpdateOptions{})
		return err
	})
	c.create("a")
	c.await(1, reconcileSpan, "a")
	c.update("a", "v")
	reconcile := c.await(3, reconcileSpan, "a")[1] // the third is caused by the write
	delivered := c.await(3, deliverConfigMap, "a")[1]
	wait, get, update := c.child(reconcile, waitSpan), c.child(reconcile, "get configmaps"), c.child(reconcile, "update configmaps")

	if got := c.relations(reconcile, delivered); !slices.Equal(got, []string{"event"}) {
		t.Errorf("the reconcile has the links %q", got)
	}
	if reconcile.Parent.IsValid() || reconcile.SpanContext.TraceID() == delivered.SpanContext.TraceID() || own.SpanID() != reconcile.SpanContext.SpanID() {
		t.Errorf("the reconcile has the parent %v, trace %v and is %v in the context", reconcile.Parent, reconcile.SpanContext.TraceID(), own)
	}
	order := []time.Time{
		delivered.StartTime, wait.StartTime, delivered.EndTime, // the handler adds the item before it returns
	}
	if !slices.IsSortedFunc(order, time.Time.Compare) {
		t.Errorf("delivery and wait: %v", order)
	}
	order = []time.Time{
		wait.StartTime, reconcile.StartTime, wait.EndTime, get.StartTime, get.EndTime, update.StartTime, update.EndTime, reconcile.EndTime,
	}
	if !slices.IsSortedFunc(order, time.Time.Compare) {
		t.Errorf("wait, reconcile and requests: %v", order)
	}
	if update.Status.Code != codes.Unset || !slices.Contains(update.Attributes, attribute.Int("http.response.status_code", 200)) {
		t.Errorf("the update has the status %v and %v", update.Status, update.Attributes)
	}
	for _, name := range []string{"informer.list configmaps", "informer.list secrets"} {
		if lists := c.spans(name, ""); len(lists) != 1 || !lists[0].StartTime.Before(lists[0].EndTime) {
			t.Errorf("%d spans %s", len(lists), name)
		}
	}

	// The delivery of a listed object links to the list; that of a watch event does not.
	list := c.spans("informer.list configmaps", "")[0]
	listed := c.await(1, deliverConfigMap, "before")[0]
	if got := c.relations(listed, list); !slices.Equal(got, []string{"list"}) || listed.StartTime.Before(list.EndTime) {
		t.Errorf("the delivery of a listed object has the links %q and begins at %v, the list ends at %v", got, listed.StartTime, list.EndTime)
	}
	if len(delivered.Links) != 0 {
		t.Errorf("the delivery of an event has the links %v", delivered.Links)
	}

	// Exemplars lead to the traces.
	families, err := c.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for metric, name := range map[string]string{
		"k8s_informer_event_lag_seconds": "informer.deliver", "k8s_informer_handler_duration_seconds": "informer.deliver",
		"controller_reconcile_duration_seconds": "reconcile", "k8s_client_request_duration_seconds": "get",
		"workqueue_queue_duration_seconds": "reconcile",
	} {
		found := false
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, b := range m.GetHistogram().GetBucket() {
					if e := b.GetExemplar(); f.GetName() == metric && e != nil {
						found = slices.ContainsFunc(c.exporter.GetSpans(), func(s tracetest.SpanStub) bool {
							return s.SpanContext.TraceID().String() == e.GetLabel()[0].GetValue()
						})
					}
				}
			}
		}
		if !found {
			t.Errorf("%s has no exemplar with the trace of a span %s", metric, name)
		}
	}
}

// Many updates of one key while its worker is busy become one reconcile with a link to each, up to a limit.
func TestCoalescedOnARealServer(t *testing.T) {
	c := newTraced(t)
	busy, release := make(chan struct{}, 1), make(chan struct{})
	c.reconcileWith(func(context.Context, kubernetes.Interface, string) error {
		busy <- struct{}{}
		<-release
		return nil
	})
	c.create("a")
	events := 1
	for _, updates := range []int{20, 40} {
		<-busy
		c.await(events, deliverConfigMap, "a") // the span of a delivery may end after the reconcile began
		reconciles := len(c.spans(reconcileSpan, "a"))
		for n := range updates {
			c.update("a", fmt.Sprint(updates, n))
		}
		delivered := c.await(events+updates, deliverConfigMap, "a")[events:]
		release <- struct{}{}
		<-busy
		release <- struct{}{}
		reconcile := c.await(reconciles+2, reconcileSpan, "a")[reconciles+1]
		want := min(updates, 32)
		if got := c.relations(reconcile, delivered...); !slices.Equal(got, slices.Repeat([]string{"event"}, want)) {
			t.Errorf("%d updates: links %q, want %d", updates, got, want)
		}
		if dropped := attribute.Int("links.dropped", updates-want); updates > want && !slices.Contains(reconcile.Attributes, dropped) {
			t.Errorf("%d updates: no %v in %v", updates, dropped, reconcile.Attributes)
		}
		wait := c.child(reconcile, waitSpan)
		if wait.StartTime.Before(delivered[0].StartTime) || wait.StartTime.After(delivered[0].EndTime) || len(wait.Events) != 1 || wait.Events[0].Name != "workqueue.ready" {
			t.Errorf("%d updates: the wait starts at %v with the events %v, the first delivery takes from %v to %v",
				updates, wait.StartTime, wait.Events, delivered[0].StartTime, delivered[0].EndTime)
		}
		c.update("a", "next")
		events += updates + 1
	}
	<-busy
	release <- struct{}{}
	if n := metricstest.Gather(t, c.registry).Sum("controller_trace_links_dropped_total", "reason", "links"); n != 8 {
		t.Errorf("%v links are counted as dropped, want 8", n)
	}
}

// A failed reconcile has the status Error, and its retry has a link to it. A handler may add the key of another object.
func TestRetryAndOtherObjectOnARealServer(t *testing.T) {
	c := newTraced(t)
	attempts := 0
	c.reconcileWith(func(context.Context, kubernetes.Interface, string) error {
		if attempts++; attempts <= 2 {
			return errors.New("failed on purpose")
		}
		return nil
	})
	if _, err := c.client.CoreV1().Secrets(c.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	all := c.await(3, reconcileSpan, "b")
	if got := c.relations(all[0], c.await(1, "informer.deliver secrets", "b")...); !slices.Equal(got, []string{"event"}) {
		t.Errorf("the first attempt has the links %q", got)
	}
	for n := 1; n <= 2; n++ {
		failed, retry := all[n-1], all[n]
		if failed.Status.Code != codes.Error || !strings.Contains(failed.Status.Description, "on purpose") || !slices.Contains(failed.Attributes, attribute.String("controller.result", "error")) {
			t.Errorf("attempt %d has the status %v and %v", n, failed.Status, failed.Attributes)
		}
		if got := c.relations(retry, failed); !slices.Equal(got, []string{"retried"}) {
			t.Errorf("retry %d has the links %q", n, got)
		}
		if wait := c.child(retry, waitSpan); wait.StartTime.Before(failed.EndTime) || len(wait.Events) != 1 {
			t.Errorf("the wait of retry %d starts at %v with the events %v, the attempt before ended at %v", n, wait.StartTime, wait.Events, failed.EndTime)
		}
	}
	if last := all[2]; last.Status.Code != codes.Unset || !slices.Contains(last.Attributes, attribute.String("controller.result", "success")) {
		t.Errorf("the last attempt has the status %v and %v", last.Status, last.Attributes)
	}
}
