// Package churn simulates the operations of a healthy cluster on a running chain: rolling restarts, deploys, leader handovers,
// changes of CustomResourceDefinitions, node drains, programs scaled to zero and back. No alert should page for any of them.
package churn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// Period is the time after which the operations repeat. It has the operations of eight hours at ten times the rate. Waits, such as
// for the reboot of a drained node, have their real duration.
const Period = 48 * time.Minute

// Churn is a series of operations on a chain.
type Churn struct {
	chain  *chain.Chain
	log    *slog.Logger
	client kubernetes.Interface
	all    dynamic.Interface

	mu   sync.Mutex
	gone map[string]bool
}

// New returns operations on a running chain. They do not go through its fault proxies.
func New(c *chain.Chain, log *slog.Logger) (*Churn, error) {
	client, err := kubernetes.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		return nil, err
	}
	all, err := dynamic.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		return nil, err
	}
	return &Churn{chain: c, log: log, client: client, all: all, gone: map[string]bool{}}, nil
}

// operation runs at a fixed time in each period.
type operation struct {
	at   time.Duration
	name string
	do   func(context.Context) error
}

// every returns an operation that is repeated within a period.
func every(first, interval time.Duration, name string, do func(context.Context) error) (all []operation) {
	for at := first; at < Period; at += interval {
		all = append(all, operation{at, name, do})
	}
	return all
}

// lanes returns the operations of a period. Those of a lane are in the order of their times and never overlap.
func (c *Churn) lanes() [][]operation {
	const m = time.Minute
	widgets, ownerLabels := c.chain.Replicas, c.chain.OwnerLabels
	return [][]operation{
		{
			{3 * m, "rolling restart of the demo controller", rollingRestart(widgets)},
			{6 * m, "rolling restart of the operator", rollingRestart(ownerLabels)},
			{10 * m, "deploy of the exporter", c.chain.Exporter.Restart},
			{19 * m, "leader of the operator drained", handOver(ownerLabels, restart)},
			{21 * m, "leader of the demo controller drained", handOver(widgets, restart)},
			{24 * m, "leader of the operator crashes", handOver(ownerLabels, crash)},
			{27 * m, "demo controller scaled to zero", c.scale(widgets, 0)},
			{32 * m, "demo controller scaled to three", c.scale(widgets, len(widgets))},
			{33 * m, "restart of kube-controller-manager", c.chain.ControlPlane.ControllerManager.Restart},
			{35 * m, "operator scaled to zero", c.scale(ownerLabels, 0)},
			{40 * m, "operator scaled to three", c.scale(ownerLabels, len(ownerLabels))},
			{42 * m, "rolling restart of the operator", rollingRestart(ownerLabels)},
			{44 * m, "rolling restart of the demo controller", rollingRestart(widgets)},
			{46 * m, "deploy of the exporter", c.chain.Exporter.Restart},
		},
		every(m, 12*m, "CustomResourceDefinition created, upgraded, deleted", c.definition),
		every(15*m, 24*m, "CustomResourceDefinition of Widgets upgraded", c.upgradeWidgets),
		every(2*m, 2*m, "deploy", c.deploy),
		every(4*m, 8*m, "node drain", c.drain),
	}
}

// Run runs the operations until ctx ends, period after period. It returns the errors of operations that failed.
func (c *Churn) Run(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	var running sync.WaitGroup
	running.Go(func() { c.kubelet(ctx) })
	lanes := c.lanes()
	errs := make([]error, len(lanes))
	start := time.Now()
	for i, lane := range lanes {
		running.Go(func() { errs[i] = c.run(ctx, start, lane) })
	}
	running.Wait()
	return errors.Join(errs...)
}

func (c *Churn) run(ctx context.Context, start time.Time, lane []operation) error {
	var errs []error
	for ; ; start = start.Add(Period) {
		for _, o := range lane {
			if !sleep(ctx, time.Until(start.Add(o.at))) {
				return errors.Join(errs...)
			}
			begin := time.Now()
			err := o.do(ctx)
			if ctx.Err() != nil {
				return errors.Join(errs...)
			}
			c.log.Info("operation", "name", o.name, "took", time.Since(begin).Round(time.Second), "err", err)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", o.name, err))
			}
		}
	}
}

// sleep waits and returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
