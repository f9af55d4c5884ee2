// Package election elects one of several replicas to run audits.
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

// Election lets one of several exporters, those with the same Lease, make the audits. All else each of them does.
type Election struct {
	// Namespace and Name are those of the Lease. It is created if it does not exist.
	Namespace, Name string
	// Identity tells the candidates apart. No two may have the same.
	Identity string
	// LeaseDuration is after what time without a renewal another one may take over, RenewDeadline how long the leader tries
	// to renew before it gives up, RetryPeriod how often everybody tries. The defaults are those of Kubernetes' own
	// components: 15, 10 and 2 seconds. The API server counts a LeaseDuration in whole seconds.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

func (e Election) withDefaults() Election {
	e.LeaseDuration = cmp.Or(e.LeaseDuration, 15*time.Second)
	e.RenewDeadline = cmp.Or(e.RenewDeadline, 10*time.Second)
	e.RetryPeriod = cmp.Or(e.RetryPeriod, 2*time.Second)
	return e
}

// candidate runs for election, again and again: whoever loses goes on reporting, and may win another time.
type Candidate struct {
	config   leaderelection.LeaderElectionConfig
	observer *collectors.Observer
	log      *slog.Logger

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	term context.Context // of the last time that it was elected, nil before: it leads until that ends
}

// newCandidate returns a candidate, from when on there are no audits unless it is elected.
func New(e Election, obs *collectors.Observer, leases func(timeout time.Duration) (coordinationclient.LeasesGetter, error), log *slog.Logger) (*Candidate, error) {
	e = e.withDefaults()
	client, err := leases(e.RenewDeadline / 2) // so that a request that hangs is not the only one, as client-go recommends
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
			OnStoppedLeading: func() {}, // is called without having led, too
		},
	}
	if _, err := leaderelection.NewLeaderElector(c.config); err != nil { // which says what is wrong with it
		return nil, err
	}
	informer.PauseAudits(obs)
	return c, nil
}

// start lets the candidate run until resign.
func (c *Candidate) Start(ctx context.Context) {
	// client-go logs each attempt that fails, every two seconds; the lock tells it once.
	ctx, c.cancel = context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	c.running.Go(func() {
		for ctx.Err() == nil {
			elector, err := leaderelection.NewLeaderElector(c.config)
			if err != nil {
				return // it was fine when the candidate was made
			}
			elector.Run(ctx) // until the election is lost, or ctx ends
		}
	})
}

// resign gives up the Lease, if this is the leader, and waits for that. The next one need not wait until it expires.
func (c *Candidate) Resign() {
	if c.cancel == nil {
		return
	}
	c.cancel()
	c.running.Wait()
}

// lead is called in a goroutine of its own when the candidate is elected, possibly late. ctx ends when it leads no more.
func (c *Candidate) lead(ctx context.Context) {
	c.mu.Lock()
	if ctx.Err() != nil {
		c.mu.Unlock()
		return
	}
	c.term = ctx
	informer.ResumeAudits(ctx, c.observer)
	c.mu.Unlock()
	c.log.Info("Elected: the audits are made here")
	<-ctx.Done()
	c.log.Info("Leading no more: no audits are made here")
}

// leading tells whether this is the leader now. It is nil without an election.
func (c *Candidate) Leading() *bool {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.term != nil && c.term.Err() == nil
	return &now
}
