package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// apiServerKilled prepares an exporter with its own control plane, like all rows that break one.
func apiServerKilled(ctx context.Context, l *lab) (*subject, error) {
	plane, err := l.startPlane(ctx, stack.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := l.write(ctx, plane); err != nil {
		return nil, err
	}
	targets, err := l.startBoth(ctx, plane.Config(), exporterOptions{withProgram: true})
	return &subject{targets, outage(plane)}, err
}

// securedMetrics is the same for a program that asks the API server about each scrape.
func securedMetrics(ctx context.Context, l *lab) (*subject, error) {
	plane, err := l.startPlane(ctx, stack.Options{})
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	if _, err := l.write(ctx, plane); err != nil {
		return nil, err
	}
	targets, err := l.startBoth(ctx, plane.Config(), exporterOptions{withProgram: true})
	if err != nil {
		return nil, err
	}
	program := targets[1]
	metrics := program.read
	program.read = func(ctx context.Context) ([]byte, error) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: plane.Config().BearerToken}}
		if _, err := client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		return metrics(ctx)
	}
	return &subject{targets, outage(plane)}, nil
}

// outage kills an API server, and starts it when ctx ends.
func outage(plane *stack.ControlPlane) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := plane.APIServer.Kill(); err != nil {
			return err
		}
		<-ctx.Done()
		return plane.APIServer.Start(context.WithoutCancel(ctx))
	}
}

// compaction uses an API server without a watch cache, so that only etcd has the history.
func compaction(ctx context.Context, l *lab) (*subject, error) {
	plane, err := l.startPlane(ctx, stack.Options{APIServerArgs: []string{"--watch-cache=false"}})
	if err != nil {
		return nil, err
	}
	if _, err := l.write(ctx, plane); err != nil {
		return nil, err
	}
	proxy, err := l.proxy(plane.APIServer.Address)
	if err != nil {
		return nil, err
	}
	t, err := l.startExporter(ctx, proxy.RESTConfig(plane.Config()), exporterOptions{})
	return &subject{[]*target{t}, func(ctx context.Context) error {
		proxy.Cut()
		if err := sleep(ctx, 10*time.Second); err != nil { // time for writes
			return err
		}
		if _, err := plane.Etcd.Compact(ctx); err != nil {
			return err
		}
		if err := proxy.Restore(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}}, err
}

// etcdRestored restores a state so old that later writes do not reach the previous versions again. A successful audit keeps
// InformerAuditsFail from firing for half an hour. Therefore, the first audit ends before the recording begins, and the
// interval is long enough that the second runs once the fault has begun. Two audits fail before the informer relists.
func etcdRestored(ctx context.Context, l *lab) (*subject, error) {
	const undone = 1000
	plane, err := l.startPlane(ctx, stack.Options{})
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(withRate(plane.Config(), 1000))
	if err != nil {
		return nil, err
	}
	backup := filepath.Join(plane.Dir(), "backup")
	if err := plane.Etcd.Backup(ctx, backup); err != nil {
		return nil, err
	}
	if err := plane.APIServer.Restart(ctx); err != nil {
		return nil, err
	}
	for n := range undone {
		patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
		if _, err := client.CoreV1().ConfigMaps(busy).Patch(ctx, "stays-0", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return nil, err
		}
	}
	stopWriting, err := l.write(ctx, plane)
	if err != nil {
		return nil, err
	}
	proxy, err := l.proxy(plane.APIServer.Address)
	if err != nil {
		return nil, err
	}
	t, err := l.startExporter(ctx, proxy.RESTConfig(plane.Config()), exporterOptions{
		config: "resources: [configmaps]\nnamespaces: [" + busy + "]\nchecks: {freshness: 30s, audit: 4m}\n",
	})
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, 32*time.Second); err != nil {
		return nil, err
	}
	return &subject{[]*target{t}, func(ctx context.Context) error {
		stopWriting()
		proxy.Cut() // refuses connections, like a stopped server
		if err := plane.APIServer.Kill(); err != nil {
			return err
		}
		if err := plane.Etcd.Restore(ctx, backup); err != nil {
			return err
		}
		if err := plane.APIServer.Start(ctx); err != nil {
			return err
		}
		if err := proxy.Restore(); err != nil {
			return err
		}
		if err := sleep(ctx, 15*time.Minute); err != nil { // three audits
			return err
		}
		proxy.HalfOpen() // until pings detect it, after which client-go relists
		if err := sleep(ctx, 50*time.Second); err != nil {
			return err
		}
		if err := proxy.Restore(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}}, nil
}

func withRate(config *rest.Config, qps float32) *rest.Config {
	config.QPS, config.Burst = qps, int(qps)
	return config
}

// crdDeleted prepares an exporter and a program that watch a resource. The fault deletes its definition.
func crdDeleted(ctx context.Context, l *lab) (*subject, error) {
	client, err := dynamic.NewForConfig(l.plane.Config())
	if err != nil {
		return nil, err
	}
	if _, err := client.Resource(stack.Definitions).Create(ctx, stack.Definition("example.com", "Widget"), metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	for n := range 3 {
		widget := load.Widget(fmt.Sprint("widget-", n), nil)
		err := wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := client.Resource(load.Widgets).Namespace(busy).Create(ctx, widget, metav1.CreateOptions{})
			return err == nil, nil // the API server does not serve it immediately
		})
		if err != nil {
			return nil, err
		}
	}
	exporter, err := l.startExporter(ctx, l.plane.Config(), exporterOptions{
		config: "resources: [configmaps, widgets.example.com]\nnamespaces: [" + busy + "]\nchecks: {freshness: 0s, audit: 0s}\n",
	})
	if err != nil {
		return nil, err
	}
	_, program, err := l.startProgram(l.plane.Config(), func(*program) programOptions { return programOptions{resource: load.Widgets} })
	return &subject{[]*target{exporter, program}, func(ctx context.Context) error {
		if err := client.Resource(stack.Definitions).Delete(ctx, stack.Definition("example.com", "Widget").GetName(), metav1.DeleteOptions{}); err != nil {
			return err
		}
		<-ctx.Done()
		_, err := client.Resource(stack.Definitions).Create(context.WithoutCancel(ctx), stack.Definition("example.com", "Widget"), metav1.CreateOptions{})
		return err
	}}, err
}

// foreignVersions prepares an exporter and a program that receive non-numeric versions from the start. They have no other
// fault.
func foreignVersions(ctx context.Context, l *lab) (*subject, error) {
	g, err := l.gate(l.plane)
	if err != nil {
		return nil, err
	}
	g.foreign = true
	exporter, err := l.startExporter(ctx, g.config(), oneKind)
	if err != nil {
		return nil, err
	}
	_, program, err := l.startProgram(g.config(), ordinary)
	return &subject{[]*target{exporter, program}, func(ctx context.Context) error { <-ctx.Done(); return nil }}, err
}
