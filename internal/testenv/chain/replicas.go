package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

const (
	// Replicas of the demo controller, and of the operator on controller-runtime. One of each leads.
	replicas = 3
	// leaseNamespace and leaseName identify the Lease of the demo controller. The other elections use leaseNamespace, too.
	leaseNamespace, leaseName = "default", "widgets"
	// leaseDuration is short, so that the next leader is elected soon.
	leaseDuration = 6 * time.Second
	// maxBackoff and maxRetries let an item fail for twelve minutes before it is dropped, long enough for an alert.
	maxBackoff = 5 * time.Second
	maxRetries = 150
)

// Replica is one process of a controller, with its own connection to the API server.
type Replica struct {
	*stack.Server
	// Identity is the name of the replica, and the prefix of the demo controller's holder identity in the Lease. URL is the
	// address of the replica's web server.
	Identity, URL string
	// Proxy is between the API server and this replica.
	Proxy *faultproxy.Proxy
}

// startReplicas starts the demo controller.
func (c *Chain) startReplicas(ctx context.Context, programs programs) (err error) {
	c.Replicas, err = c.replicate(ctx, programs.controller, "widgets", controllerPort, "/healthz", func(r *Replica, kubeconfig, address string) []string {
		return []string{
			"--kubeconfig=" + kubeconfig, "--web.listen-address=" + address, "--identity=" + r.Identity,
			"--lease-duration=" + leaseDuration.String(), "--max-backoff=" + maxBackoff.String(),
			fmt.Sprintf("--max-retries=%d", maxRetries), "--cleanup-deadline=5s",
		}
	})
	return err
}

// startOwnerLabels starts an operator on controller-runtime with little work, so that its metrics appear next to those of other
// controllers. Its leader election has the durations of controller-runtime.
func (c *Chain) startOwnerLabels(ctx context.Context, programs programs) (err error) {
	c.OwnerLabels, err = c.replicate(ctx, programs.ownerLabels, "owner-labels", ownerLabelsPort, "/metrics", func(_ *Replica, kubeconfig, address string) []string {
		return []string{
			"--kubeconfig=" + kubeconfig, "--metrics-bind-address=" + address, "--metrics-secure=false", "--health-probe-bind-address=0",
			"--leader-elect", "--leader-election-namespace=" + leaseNamespace,
		}
	})
	return err
}

// startTiers starts an operator on controller-runtime that does not use the library.
func (c *Chain) startTiers(ctx context.Context, programs programs) (err error) {
	c.Tiers, err = c.startReplica(ctx, programs.tiers, "tiers", tiersPort, "/metrics", func(_ *Replica, kubeconfig, address string) []string {
		return []string{"--kubeconfig=" + kubeconfig, "--metrics-bind-address=" + address, "--leader-election-namespace=" + leaseNamespace}
	})
	return err
}

// replicate starts replicas of a program. They are stopped at the same time, because each may take seconds.
func (c *Chain) replicate(ctx context.Context, program, name string, wellKnown int, ready string, args arguments) (all []*Replica, err error) {
	for i := range replicas {
		r, err := c.startReplica(ctx, program, fmt.Sprintf("%s-%d", name, i), wellKnown+i, ready, args)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	c.onStop(func(ctx context.Context) error {
		var stopping errgroup.Group
		for _, r := range all {
			stopping.Go(func() error { return r.Stop(ctx) })
		}
		return stopping.Wait()
	})
	return all, nil
}

// arguments returns the arguments of a program.
type arguments func(r *Replica, kubeconfig, address string) []string

// startReplica starts a process with its own connection to the API server. It is stopped even if the start of another one fails.
func (c *Chain) startReplica(ctx context.Context, program, identity string, wellKnown int, ready string, args arguments) (*Replica, error) {
	proxy, err := faultproxy.Start(c.ControlPlane.APIServer.Address)
	if err != nil {
		return nil, err
	}
	c.onStop(func(context.Context) error { return proxy.Close() })
	kubeconfig := filepath.Join(c.dir, identity+".kubeconfig")
	if err := stack.WriteKubeconfig(kubeconfig, proxy.RESTConfig(c.ControlPlane.Config())); err != nil {
		return nil, err
	}
	address := port.Address(c.port(wellKnown))
	r := &Replica{Identity: identity, URL: "http://" + address, Proxy: proxy}
	r.Server, err = stack.StartCommand(ctx, stack.Command{
		Name: identity, Program: program, Dir: c.dir, Log: c.options.Log, Ready: stack.Answers(r.URL + ready),
		Env:  append(c.tracingEnv(grpcProtocol), "OTEL_RESOURCE_ATTRIBUTES=service.instance.id="+identity),
		Args: args(r, kubeconfig, address),
	})
	if err != nil {
		return nil, err
	}
	c.keep(r.Server)
	return r, nil
}

// ErrNoLeader is returned by faults of the leader while there is no leader: after many faults, all replicas may wait up to five
// minutes for their restart, as in a cluster.
var ErrNoLeader = errors.New("no leader")

// Leader returns the leading replica and its holder identity. It waits up to readyTimeout. The Lease names a replica for
// some time after it has exited, even if it has been restarted as a candidate: the replica must also report that it
// leads.
func (c *Chain) Leader(ctx context.Context) (leader *Replica, identity string, err error) {
	client, err := kubernetes.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		return nil, "", err
	}
	last := errors.New("the Lease has no holder")
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		lease, err := client.CoordinationV1().Leases(leaseNamespace).Get(ctx, leaseName, metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil {
			last = cmp.Or(err, last)
			return false, nil
		}
		identity = *lease.Spec.HolderIdentity
		i := slices.IndexFunc(c.Replicas, func(r *Replica) bool { return strings.HasPrefix(identity, r.Identity+"_") })
		if i < 0 {
			last = fmt.Errorf("lease holder %q is not a replica", identity)
			return false, nil
		}
		leader = c.Replicas[i]
		if err := leader.Leads(ctx); err != nil {
			last = fmt.Errorf("lease holder %s: %w", identity, err)
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w: %w", ErrNoLeader, err, last)
	}
	return leader, identity, nil
}

// Leads returns an error if the replica does not report that it is the leader.
func (r *Replica) Leads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	samples, err := metricstest.Scrape(ctx, r.URL+"/metrics")
	if err == nil && samples.Sum(catalog.ControllerLeader.Name) < 1 {
		err = errors.New("controller_leader is 0")
	}
	return err
}

// addresses returns the host:port of the replicas' metrics.
func addresses(all []*Replica) []string {
	var list []string
	for _, r := range all {
		list = append(list, hostPort(r.URL))
	}
	return list
}
