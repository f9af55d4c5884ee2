package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

const (
	// window is the time over which figures are taken. It is longer than the garbage collection cycle of an idle
	// exporter.
	window = 30 * time.Second
	// scrapes is the interval of scrapes; a window has several.
	scrapes = 5 * time.Second
	// patience is the timeout of steps that take seconds on an idle machine, and at most client-go's longest backoff.
	patience = 3 * time.Minute
)

// figures are the figures of the exporter: the maximum number of series in the window, the minimums of the other values, and
// the audits of its current informers.
type figures struct {
	goroutines, heap, resident, series, consistent, different, failed float64
}

func (f figures) String() string {
	const mebi = 1 << 20
	return fmt.Sprintf("%.0f goroutines, %.1f MiB heap, %.1f MiB resident, %.0f series; %.0f consistent audits, %.0f different, %.0f without a result",
		f.goroutines, f.heap/mebi, f.resident/mebi, f.series, f.consistent, f.different, f.failed)
}

// flat returns an error if the figures have grown. An additional connection uses two goroutines. Memory may grow by a
// quarter, because the garbage collector lets the heap grow before it runs.
func (f figures) flat(before figures) error {
	var errs []error
	check := func(what string, now, then, slack float64) {
		if now > then+slack {
			errs = append(errs, fmt.Errorf("%s grew from %.0f to %.0f", what, then, now))
		}
	}
	check("goroutines", f.goroutines, before.goroutines, 10)
	check("heap", f.heap, before.heap, before.heap/4+4<<20)
	check("resident memory", f.resident, before.resident, before.resident/4+16<<20)
	check("series", f.series, before.series, before.series/10)
	return errors.Join(errs...)
}

// settle waits until every informer is synced, connected and without lag, and returns the figures.
func (s *soak) settle(ctx context.Context) (figures, error) {
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	const unwell = `k8s_informer_synced == 0 or k8s_informer_watch_connected == 0 or k8s_informer_sync_lag_seconds > 5`
	if _, err := s.chain.Prometheus.WaitQuery(waiting, unwell, func(samples []stack.Sample) bool { return len(samples) == 0 }); err != nil {
		return figures{}, fmt.Errorf("informers did not recover: %w", err)
	}
	if err := pause(ctx, window); err != nil {
		return figures{}, err
	}
	var f figures
	for query, value := range map[string]*float64{
		`min_over_time(go_goroutines{job="informer-exporter"}[30s])`:                        &f.goroutines,
		`min_over_time(go_memstats_heap_inuse_bytes{job="informer-exporter"}[30s])`:         &f.heap,
		`min_over_time(process_resident_memory_bytes{job="informer-exporter"}[30s])`:        &f.resident,
		`max_over_time(scrape_samples_scraped{job="informer-exporter"}[30s])`:               &f.series, // 0 after a failed scrape
		`sum(k8s_informer_audits_total{name="informer-exporter", result="consistent"})`:     &f.consistent,
		`sum(k8s_informer_audits_total{name="informer-exporter", result="different"})`:      &f.different, // etcd-restore undoes writes
		`sum(k8s_informer_audits_total{name="informer-exporter", result=~"skipped|error"})`: &f.failed,
	} {
		samples, err := s.chain.Prometheus.Query(ctx, query)
		if err != nil {
			return f, err
		}
		if len(samples) != 1 {
			return f, fmt.Errorf("%s has %d results", query, len(samples))
		}
		*value = samples[0].Value
	}
	return f, nil
}

// compare stops the writes and waits until each informer has as many objects as the API server.
func (s *soak) compare(ctx context.Context) error {
	s.chain.Load.Pause()
	config := s.chain.ControlPlane.Config()
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for {
		informers, wrong, err := s.differences(waiting, client, kinds)
		if err == nil && wrong == nil && informers > 0 {
			fmt.Fprintf(s.out, "%d informers are synced, connected, and have as many objects as the API server\n", informers)
			return nil
		}
		if pause(waiting, time.Second) != nil {
			return errors.Join(err, wrong)
		}
	}
}

// differences compares every informer once.
func (s *soak) differences(ctx context.Context, client metadata.Interface, kinds meta.RESTMapper) (informers int, wrong, err error) {
	counts := map[string]int{}
	var errs []error
	samples, err := s.chain.Prometheus.Query(ctx, `k8s_informer_objects{watch_namespace="*", name=~"informer-exporter|load"}`) // other programs use label selectors
	if err != nil {
		return 0, nil, err
	}
	for _, sample := range samples {
		kind := sample.Labels["informer_type"]
		if _, known := counts[kind]; !known {
			resource, err := kinds.ResourceFor(schema.ParseGroupResource(kind).WithVersion(""))
			if err != nil {
				errs = append(errs, err)
				continue
			}
			list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
			if err != nil {
				return 0, nil, err
			}
			counts[kind] = len(list.Items)
		}
		if int(sample.Value) != counts[kind] {
			errs = append(errs, fmt.Errorf("%s of %s: the informer has %v objects, the API server %d", kind, sample.Labels["name"], sample.Value, counts[kind]))
		}
	}
	unwell, err := s.chain.Prometheus.Query(ctx, `k8s_informer_synced == 0 or k8s_informer_watch_connected == 0`)
	if err != nil {
		return 0, nil, err
	}
	for _, sample := range unwell {
		errs = append(errs, fmt.Errorf("%s of %s is not synced or not connected", sample.Labels["informer_type"], sample.Labels["name"]))
	}
	return len(samples), errors.Join(errs...), nil
}
