package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// watchDelay is how late events reach a kube-controller-manager behind a delayed watch.
const watchDelay = 2 * time.Minute

// behind are recordings of programs without the library and of API servers, by name, each with a control plane of its own.
// $KUBEBUILDER_ASSETS has kube-apiserver and kube-controller-manager of a version other than the pinned one.
var behind = map[string]func(context.Context, *lab, *stack.ControlPlane) (*subject, error){
	"delayed": managerBehind(func(p *faultproxy.Proxy) { p.Delay(watchDelay) }),
	"cut":     managerBehind(func(p *faultproxy.Proxy) { p.Cut() }),
	"burst":   burst,
	"frozen":  frozen,
}

// watchesMore is the exporter next to them.
var watchesMore = exporterOptions{config: "resources: [configmaps, pods, namespaces, deployments.apps, replicasets.apps, endpointslices.discovery.k8s.io]\nchecks: {freshness: 30s, audit: 1m}\n"}

// ofTheirOwn are metrics that programs have without the library.
var ofTheirOwn = regexp.MustCompile(`^(informer|apiserver)_|_stale_sync_skips_total$|^workqueue_work_duration_seconds_count$|^process_start_time_seconds$`)

// readOfCaches selects, of what rules read, everything of exporters, and what other programs report about stale caches.
func readOfCaches(rules recording.Reads) recording.Reads {
	exporter := labels.MustNewMatcher(labels.MatchEqual, "job", "informer-exporter")
	var reads recording.Reads
	for _, matchers := range rules {
		all := slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
			return m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual && ofTheirOwn.MatchString(m.Value)
		})
		if !all {
			matchers = append(slices.Clone(matchers), exporter)
		}
		reads = append(reads, matchers)
	}
	return reads
}

// recordBehind records these programs.
func (l *lab) recordBehind(ctx context.Context, wanted *regexp.Regexp, p phases, rules recording.Reads, out string) error {
	subjects := map[string]*subject{}
	for name, prepare := range behind {
		if !wanted.MatchString(name) {
			continue
		}
		plane, err := l.startPlane(ctx, stack.Options{})
		if err != nil {
			return err
		}
		if _, err := l.write(ctx, plane); err != nil {
			return err
		}
		if subjects[name], err = prepare(ctx, l, plane); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return l.recordSubjects(ctx, subjects, p, readOfCaches(rules), func(r recording.Recording) error {
		return os.WriteFile(filepath.Join(out, r.Row+".yaml.gz"), r.MarshalCompressed(), 0o644)
	})
}

// managerBehind is a kube-controller-manager behind a proxy, next to an exporter that is connected directly.
func managerBehind(breaks func(*faultproxy.Proxy)) func(context.Context, *lab, *stack.ControlPlane) (*subject, error) {
	return func(ctx context.Context, l *lab, plane *stack.ControlPlane) (*subject, error) {
		exporter, err := l.startExporter(ctx, plane.Config(), watchesMore)
		if err != nil {
			return nil, err
		}
		proxy, err := l.proxy(plane.APIServer.Address)
		if err != nil {
			return nil, err
		}
		manager, err := l.startControllerManager(ctx, plane, proxy.RESTConfig(plane.Config()))
		if err != nil {
			return nil, err
		}
		return &subject{[]*target{exporter, manager}, func(ctx context.Context) error {
			breaks(proxy)
			<-ctx.Done()
			return proxy.Restore()
		}}, nil
	}
}

// frozen has two API servers on one etcd, and an exporter at each. The events of etcd do not reach the second one.
func frozen(ctx context.Context, l *lab, plane *stack.ControlPlane) (*subject, error) {
	etcd, err := faultproxy.StartEtcd(plane.Etcd.URL)
	if err != nil {
		return nil, err
	}
	l.onStop(func(context.Context) error { etcd.Close(); return nil })
	second, err := plane.AddAPIServer(ctx, etcd.URL, l.log)
	if err != nil {
		return nil, err
	}
	l.onStop(second.Stop) // before the proxy
	var targets []*target
	for name, server := range map[string]*stack.APIServer{"": plane.APIServer, "second-": second} {
		exporter, err := l.startExporter(ctx, server.Config(), watchesMore)
		if err != nil {
			return nil, err
		}
		api, err := apiServer(server)
		if err != nil {
			return nil, err
		}
		exporter.instance, api.instance = name+exporter.instance, name+api.instance
		targets = append(targets, exporter, api)
	}
	return &subject{targets, func(ctx context.Context) error {
		etcd.Freeze()
		<-ctx.Done()
		etcd.Thaw()
		return nil
	}}, nil
}
