package leader_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The periods are short, so that leases expire within the test, and long enough for a busy machine to keep the lock.
const (
	leaseDuration = 8 * time.Second
	renewDeadline = 6 * time.Second
	retryPeriod   = 400 * time.Millisecond
	slowAnswers   = 700 * time.Millisecond
)

// election is a Lease with candidates.
type election struct {
	*testing.T
	client     kubernetes.Interface
	namespace  string
	candidates []*candidate
	// led is the number of calls of OnStartedLeading.
	led atomic.Int64
}

// candidate is a replica with its own connections, registry and fault proxy. It can be started again after it has ended, like
// a replica that is restarted.
type candidate struct {
	*election
	name     string
	proxy    *faultproxy.Proxy
	freezer  *freezer
	config   *rest.Config
	obs      *collectors.Observer
	registry *prometheus.Registry

	runs     int
	identity string
	cancel   context.CancelFunc
	done     chan struct{}
}

func newElection(t *testing.T, candidates int) *election {
	t.Helper()
	e := &election{T: t, client: kubernetes.NewForConfigOrDie(stacktest.Config(t)), namespace: stacktest.Namespace(t)}
	for n := range candidates {
		c := &candidate{election: e, name: fmt.Sprintf("candidate-%c", 'a'+n), freezer: &freezer{}}
		c.obs, c.registry = observertest.New(t)
		var config *rest.Config
		c.proxy, config = stacktest.Proxied(t)
		config.Timeout = renewDeadline / 2 // as client-go recommends
		config.QPS = -1
		config.Wrap(c.freezer.wrap)
		c.config = apiclient.WrapConfig(c.obs, config, apiclient.Options{})
		e.candidates = append(e.candidates, c)
		t.Cleanup(func() { c.freezer.thaw(); c.stop() })
	}
	return e
}

// start runs a candidate, with a new identity each time.
func (c *candidate) start(release bool) {
	c.Helper()
	c.runs++
	c.identity = fmt.Sprintf("%s-%d", c.name, c.runs)
	config := leaderelection.LeaderElectionConfig{
		Lock: leader.NewLock(c.obs, &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: c.namespace, Name: "election"},
			Client:     kubernetes.NewForConfigOrDie(c.config).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: c.identity},
		}, leader.Options{Name: "election", RetryPeriod: retryPeriod}),
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.led.Add(1) },
			OnStoppedLeading: func() {},
		},
	}
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); elector.Run(ctx) }()
	c.cancel, c.done = cancel, done
}

// stop cancels a candidate and waits until it has returned.
func (c *candidate) stop() {
	if c.cancel != nil {
		c.cancel()
		<-c.done
	}
}

// ended waits for a candidate that ends without being canceled.
func (c *candidate) ended() {
	c.Helper()
	select {
	case <-c.done:
	case <-time.After(time.Minute):
		c.Fatalf("%s does not end", c.name)
	}
}

// reset ends a candidate's network faults, and closes its connections.
func (c *candidate) reset() {
	c.Helper()
	c.proxy.Cut()
	if err := c.proxy.Restore(); err != nil {
		c.Fatal(err)
	}
}

func (c *candidate) take() metricstest.Snapshot { c.Helper(); return metricstest.Take(c, c.registry) }

// leads reports whether a candidate is reported as the leader.
func (c *candidate) leads() bool {
	c.Helper()
	return c.take()["controller_leader{lock=election}"] == 1
}

func (c *candidate) transitions(event string) float64 {
	c.Helper()
	return c.take()[transition(event)]
}

func transition(event string) string {
	return "controller_leader_transitions_total{event=" + event + ",lock=election}"
}

// total sums a series over all candidates.
func (e *election) total(series string) float64 {
	e.Helper()
	var sum float64
	for _, c := range e.candidates {
		sum += c.take()[series]
	}
	return sum
}

// stop stops all candidates, the leader last: a candidate that takes over meanwhile could be stopped between its acquisition
// and the response of the API server.
func (e *election) stop() {
	e.Helper()
	for _, c := range e.candidates {
		if !c.leads() {
			c.stop()
		}
	}
	for _, c := range e.candidates {
		c.stop()
	}
}

// leader waits until a single candidate other than the last leader is reported as the leader, and is the holder of the Lease.
func (e *election) leader(last *candidate) (leader *candidate) {
	e.Helper()
	await.NoError(e, "a leader", func() error {
		var leaders []*candidate
		for _, c := range e.candidates {
			if c.leads() {
				leaders = append(leaders, c)
			}
		}
		if len(leaders) > 1 && leaders[0].leads() { // still leads
			e.Fatalf("%s and %s both lead", leaders[0].identity, leaders[1].identity)
		}
		if len(leaders) != 1 || leaders[0] == last {
			return fmt.Errorf("%d leaders, or the last one", len(leaders))
		}
		lease, err := e.client.CoordinationV1().Leases(e.namespace).Get(e.Context(), "election", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if holder := *lease.Spec.HolderIdentity; holder != leaders[0].identity {
			return fmt.Errorf("%s leads and %s holds the Lease", leaders[0].identity, holder)
		}
		leader = leaders[0]
		return nil
	})
	return leader
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// freezer blocks requests, as SIGSTOP does from the perspective of the API server.
type freezer struct {
	mu     sync.Mutex
	frozen chan struct{}
}

func (f *freezer) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		f.mu.Lock()
		frozen := f.frozen
		f.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		return next.RoundTrip(r)
	})
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = make(chan struct{})
}

func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen != nil {
		close(f.frozen)
		f.frozen = nil
	}
}
