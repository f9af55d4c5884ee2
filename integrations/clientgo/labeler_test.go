package clientgo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const (
	baseDelay = 20 * time.Millisecond
	failures  = 4 // of the item flaky
	// Longer than the test, so that each run renews the lease exactly once, when the elector has acquired it.
	retryPeriod = 10 * time.Minute
)

// labeler is a controller that sets a label of each ConfigMap to the value of an annotation.
type labeler struct {
	constructors
	namespace string
	client    kubernetes.Interface
	lister    cache.GenericLister
	queue     workqueue.TypedRateLimitingInterface[string]
	recorder  record.EventRecorder

	mu       sync.Mutex
	requests map[string]int
	renewed  bool                   // the lease
	recorded int                    // requests for Events
	started  map[string][]time.Time // of each attempt, by name
	requeues map[string][]int       // before each attempt, by name
	steps    []string
	events   []string
	lease    string
	metrics  metricstest.Samples // before the shutdown
}

// runLabeler runs a controller until it has shut down.
func runLabeler(t *testing.T, c constructors) *labeler {
	t.Helper()
	direct := kubernetes.NewForConfigOrDie(stacktest.Config(t))
	l := &labeler{
		constructors: c, namespace: stacktest.Namespace(t),
		requests: map[string]int{}, started: map[string][]time.Time{}, requeues: map[string][]int{},
	}
	l.client = kubernetes.NewForConfigOrDie(c.config(&rest.Config{Host: l.proxy(t), QPS: -1}))
	broadcaster := record.NewBroadcaster()
	t.Cleanup(broadcaster.Shutdown)
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: l.client.CoreV1().Events(l.namespace)})
	l.recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "labeler"})

	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c.lock(&resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: "labeler"},
			Client:     l.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "replica", EventRecorder: l.recorder},
		}),
		LeaseDuration: 4 * retryPeriod, RenewDeadline: 2 * retryPeriod, RetryPeriod: retryPeriod, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { l.step("leading") },
			OnStoppedLeading: func() { l.step("stopped leading") },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	lead, resign := context.WithCancel(t.Context())
	defer resign()
	go func() { elector.Run(lead); l.step("elector ended") }()
	l.awaitStep(t, "leading")
	l.await(t, "the renewal", func() bool { return l.renewed })

	watching, stopInformers := context.WithCancel(t.Context())
	defer stopInformers()
	l.queue = c.queue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](baseDelay, time.Hour))
	factory := c.factory(l.client, l.namespace)
	configMaps, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	l.lister = configMaps.Lister()
	enqueue := func(object any) { l.queue.Add(object.(*corev1.ConfigMap).Name) }
	if _, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(watching.Done())
	factory.WaitForCacheSync(watching.Done())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for l.process(t.Context()) {
			}
		})
	}

	// The objects are one that changes twice, one with failures, and one that is being processed during the shutdown.
	write := direct.CoreV1().ConfigMaps(l.namespace)
	create := func(name string) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"owner": "a"}}}
		if _, err := write.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("steady")
	create("flaky")
	l.awaitAttempts(t, "steady", 2) // the second because the label has changed
	if _, err := write.Patch(t.Context(), "steady", types.MergePatchType, []byte(`{"metadata":{"annotations":{"owner":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitAttempts(t, "steady", 4)
	l.awaitAttempts(t, "flaky", failures+2)
	create("last")
	l.awaitAttempts(t, "last", 1)

	l.metrics = metricstest.Gather(t, gatherer)
	stopInformers()
	factory.Shutdown()
	if configMaps.Informer().IsStopped() {
		l.step("informers stopped")
	}
	l.queue.ShutDownWithDrain()
	l.step("queue drained")
	workers.Wait()
	l.step("workers ended")
	resign()
	l.awaitStep(t, "elector ended")

	l.await(t, "Events of four successes, and of leading and not leading", func() bool { return l.recorded >= 6 })
	list, err := direct.CoreV1().Events(l.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Items {
		l.events = append(l.events, fmt.Sprint("Event: ", e.InvolvedObject.Kind, "/", e.InvolvedObject.Name, " ", e.Type, " ", e.Reason, " ", e.Message, " ", e.Count, " ", e.Source.Component))
	}
	lease, err := direct.CoordinationV1().Leases(l.namespace).Get(t.Context(), "labeler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	l.lease = fmt.Sprintf("Lease: %d transitions, holder %q, labels %v", *lease.Spec.LeaseTransitions, holder, lease.Labels)
	return l
}

// facts returns everything that must not differ between two runs.
func (l *labeler) facts() []string {
	l.mu.Lock() // the proxy still runs
	defer l.mu.Unlock()
	facts := append(slices.Clone(l.events), l.lease, fmt.Sprint("steps: ", strings.Join(l.steps, ", ")))
	for line, n := range l.requests {
		facts = append(facts, fmt.Sprint(n, " of ", line))
	}
	for name, requeues := range l.requeues {
		facts = append(facts, fmt.Sprint("requeues of ", name, " before each attempt: ", requeues))
	}
	slices.Sort(facts)
	return facts
}

// process syncs an item, and reports whether there may be others.
func (l *labeler) process(ctx context.Context) bool {
	key, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(key)
	if err := l.handle(ctx, key, l.sync); err != nil {
		l.queue.AddRateLimited(key)
	} else {
		l.queue.Forget(key)
	}
	return true
}

func (l *labeler) sync(ctx context.Context, name string) error {
	l.mu.Lock()
	l.started[name], l.requeues[name] = append(l.started[name], time.Now()), append(l.requeues[name], l.queue.NumRequeues(name))
	attempt := len(l.started[name])
	l.mu.Unlock()
	if name == "flaky" && attempt <= failures {
		return errors.New("test")
	}
	object, err := l.lister.ByNamespace(l.namespace).Get(name)
	if err != nil {
		return err
	}
	configMap := object.(*corev1.ConfigMap)
	owner := configMap.Annotations["owner"]
	if configMap.Labels["owner"] == owner {
		return nil
	}
	if name == "last" {
		defer l.step("last synced")
		if err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) { return l.queue.ShuttingDown(), nil }); err != nil {
			return err
		}
	}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"owner":%q}}}`, owner)
	if _, err := l.client.CoreV1().ConfigMaps(l.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "labeler"}); err != nil {
		return err
	}
	l.recorder.Event(configMap, corev1.EventTypeNormal, "Labeled", "Set the label")
	return nil
}

func (l *labeler) step(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, name)
}

func (l *labeler) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	await.True(t, what, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return condition() })
}

func (l *labeler) awaitStep(t *testing.T, name string) {
	t.Helper()
	l.await(t, name, func() bool { return slices.Contains(l.steps, name) })
}

func (l *labeler) awaitAttempts(t *testing.T, name string, n int) {
	t.Helper()
	l.await(t, fmt.Sprintf("%d attempts of %s", n, name), func() bool { return len(l.started[name]) >= n })
}

// varying are parts of requests that differ between two runs.
var varying = regexp.MustCompile(`((?:timeoutSeconds|timeout|resourceVersion)=)\w+|(/events/\w+\.)\w+`)

// proxy starts a proxy in front of the API server that counts the controller's requests, and returns its URL.
func (l *labeler) proxy(t *testing.T) string {
	t.Helper()
	config := stacktest.Config(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			var body []byte
			if r.Body != nil {
				var err error
				if body, err = io.ReadAll(r.Body); err != nil {
					return nil, err
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			line := fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " by ", r.UserAgent(), " ", r.Header["Accept"], r.Header["Content-Type"], " ", response.StatusCode)
			switch {
			case strings.Contains(line, "/events"):
				l.recorded++
			case r.Method == http.MethodPut && bytes.Contains(body, []byte("replica")):
				l.renewed = true
			case r.Method == http.MethodPut:
				line += " without holder"
				l.steps = append(l.steps, "lease released")
			}
			l.requests[varying.ReplaceAllString(strings.ReplaceAll(line, l.namespace, "NAMESPACE"), "$1$2…")]++
			return response, nil
		}),
	})
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
