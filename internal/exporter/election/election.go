// Package election elects the one replica that runs audits.
package election

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
)

// Election configures the election of the replica that runs audits, among all exporters with the same Lease. Everything else
// runs in every replica.
type Election struct {
	// Namespace and Name identify the Lease. It is created if it does not exist.
	Namespace, Name string
	// Identity must be unique among the candidates.
	Identity string
	// LeaseDuration, RenewDeadline and RetryPeriod are those of client-go's LeaderElectionConfig. They default to 15, 10 and 2
	// seconds, as in Kubernetes' own components. The API server stores LeaseDuration in whole seconds.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

func (e Election) withDefaults() Election {
	e.LeaseDuration = cmp.Or(e.LeaseDuration, 15*time.Second)
	e.RenewDeadline = cmp.Or(e.RenewDeadline, 10*time.Second)
	e.RetryPeriod = cmp.Or(e.RetryPeriod, 2*time.Second)
	return e
}

// Candidate takes part in the election until it is stopped. After it loses the Lease, it keeps reporting and may win again.
type Candidate struct {
	config   leaderelection.LeaderElectionConfig
	observer *collectors.Observer
	log      *slog.Logger

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	term context.Context // ends when leadership ends; nil before the first election
}

// New returns a candidate and pauses audits until it is elected.
func New(e Election, obs *collectors.Observer, leases func(timeout time.Duration) (coordinationclient.LeasesGetter, error), log *slog.Logger) (*Candidate, error) {
	e = e.withDefaults()
	client, err := leases(e.RenewDeadline / 2) // leaves time for a second request, as client-go recommends
	if err != nil {
		return nil, err
	}
	lease := e.Namespace + "/" + e.Name
	c := &Candidate{observer: obs, log: log.With("lease", lease)}
	lock := newLeaseLock(&resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}, c.log)
	c.config = leaderelection.LeaderElectionConfig{
		Name:            lease,
		Lock:            leader.NewLock(obs, lock, leader.Options{RetryPeriod: e.RetryPeriod}),
		LeaseDuration:   e.LeaseDuration,
		RenewDeadline:   e.RenewDeadline,
		RetryPeriod:     e.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: c.lead,
			OnStoppedLeading: func() {}, // also called if the candidate never led
		},
	}
	if _, err := leaderelection.NewLeaderElector(c.config); err != nil { // validates the configuration
		return nil, err
	}
	informer.PauseAudits(obs)
	return c, nil
}

// Start runs the candidate until Resign, or until ctx ends.
func (c *Candidate) Start(ctx context.Context) {
	// client-go logs every failed attempt, one every two seconds; the lock logs a failure once.
	ctx, c.cancel = context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	c.running.Go(func() {
		for ctx.Err() == nil {
			elector, err := leaderelection.NewLeaderElector(c.config)
			if err != nil {
				return // validated by New
			}
			elector.Run(ctx) // returns when leadership is lost or ctx ends
		}
	})
}

// Resign stops the candidate and waits. A leader releases the Lease, so that the next one does not wait for its expiry.
func (c *Candidate) Resign() {
	if c.cancel == nil {
		return
	}
	c.cancel()
	c.running.Wait()
}

// lead is called in its own goroutine after the candidate was elected, possibly late. ctx ends with its leadership.
func (c *Candidate) lead(ctx context.Context) {
	c.mu.Lock()
	if ctx.Err() != nil {
		c.mu.Unlock()
		return
	}
	c.term = ctx
	informer.ResumeAudits(ctx, c.observer)
	c.mu.Unlock()
	c.log.Info("became leader; audits resumed")
	<-ctx.Done()
	c.log.Info("lost leadership; audits paused")
}

// Leading reports whether this replica is the leader. It returns nil without an election.
func (c *Candidate) Leading() *bool {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.term != nil && c.term.Err() == nil
	return &now
}
