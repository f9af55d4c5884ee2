package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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
	// Replicas of the demo controller, one of which leads.
	replicas = 3
	// leaseNamespace and leaseName identify their lock.
	leaseNamespace, leaseName = "default", "widgets"
	// leaseDuration is short, so that the next leader is elected soon.
	leaseDuration = 6 * time.Second
	// maxBackoff and maxRetries let an item fail for twelve minutes before it is dropped, long enough for an alert.
	maxBackoff = 5 * time.Second
	maxRetries = 150
	// restartAfter is the delay after which a replica that has exited is restarted, as a kubelet would.
	restartAfter = time.Second
)

// Replica is one process of the demo controller, with its own connection to the API server.
type Replica struct {
	*stack.Server
	// Identity is the prefix of its holder identity in the Lease; URL is the address of its metrics.
	Identity, URL string
	// Proxy is between the API server and this replica.
	Proxy *faultproxy.Proxy
}

// startReplicas starts the demo controller, and restarts replicas that exit until Stop.
func (c *Chain) startReplicas(ctx context.Context, programs programs) error {
	supervised, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var supervisors sync.WaitGroup
	c.onStop(func(ctx context.Context) error {
		cancel()
		supervisors.Wait()
		return c.stopReplicas(ctx)
	})
	for i := range replicas {
		proxy, err := faultproxy.Start(c.ControlPlane.APIServer.Address, "")
		if err != nil {
			return err
		}
		c.onStop(func(context.Context) error { return proxy.Close() })
		identity := fmt.Sprintf("widgets-%d", i)
		kubeconfig := filepath.Join(c.dir, identity+".kubeconfig")
		if err := stack.WriteKubeconfig(kubeconfig, proxy.RESTConfig(c.ControlPlane.Config())); err != nil {
			return err
		}
		number, err := c.port(controllerPort + i)
		if err != nil {
			return err
		}
		r := &Replica{Identity: identity, URL: "http://" + port.Address(number), Proxy: proxy}
		r.Server, err = stack.StartCommand(ctx, stack.Command{
			Name: identity, Program: programs.controller, Dir: c.dir, Log: c.options.Log, Ready: stack.Answers(r.URL + "/healthz"),
			Args: []string{
				"--kubeconfig=" + kubeconfig, "--web.listen-address=" + port.Address(number), "--identity=" + identity,
				"--lease-duration=" + leaseDuration.String(), "--max-backoff=" + maxBackoff.String(),
				fmt.Sprintf("--max-retries=%d", maxRetries), "--cleanup-deadline=5s",
			},
		})
		if err != nil {
			return err
		}
		c.Replicas = append(c.Replicas, r)
		supervisors.Go(func() { c.supervise(supervised, r) })
	}
	return nil
}

// supervise restarts a replica that has exited.
func (c *Chain) supervise(ctx context.Context, r *Replica) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.Done():
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartAfter):
		}
		if err := r.Start(ctx); err != nil && ctx.Err() == nil {
			c.options.Log.Warn("replica not restarted", "replica", r.Identity, "err", err)
		}
	}
}

func (c *Chain) stopReplicas(ctx context.Context) error {
	errs := make([]error, len(c.Replicas))
	var stopping sync.WaitGroup
	for i, r := range c.Replicas {
		stopping.Go(func() { errs[i] = r.Stop(ctx) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// Leader returns the leading replica and its holder identity. The Lease names a replica for some time after it has
// exited, even if it has been restarted as a candidate: it must also report that it leads.
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
		if err := leader.leads(ctx); err != nil {
			last = fmt.Errorf("lease holder %s: %w", identity, err)
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("no leader: %w: %w", err, last)
	}
	return leader, identity, nil
}

// leads returns an error if the replica does not report that it is the leader.
func (r *Replica) leads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	samples, err := metricstest.Scrape(ctx, r.URL+"/metrics")
	if err == nil && samples.Sum(catalog.ControllerLeader.Name) < 1 {
		err = errors.New("controller_leader is 0")
	}
	return err
}

// addresses returns the host:port of the replicas' metrics.
func (c *Chain) addresses() []string {
	var list []string
	for _, r := range c.Replicas {
		list = append(list, strings.TrimPrefix(r.URL, "http://"))
	}
	return list
}
