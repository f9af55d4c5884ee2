package exporter

import (
	"runtime/debug"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/version"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Name is the program's name, in the label name of its informers' metrics and in its requests.
const Name = "informer-exporter"

// Version returns the version that was built: the one that the linker was given, else that of the module.
func Version() string {
	if version.Version != "" {
		return version.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// newRegistry returns a registry of the exporter's own with what is true of any process.
func newRegistry() (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		promcollectors.NewGoCollector(),
		promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}),
		newBuildInfo(),
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

func newBuildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: catalog.ExporterBuildInfo.Name,
		Help: catalog.ExporterBuildInfo.Help,
		ConstLabels: prometheus.Labels{
			"version":   Version(),
			"revision":  version.GetRevision(),
			"branch":    version.Branch,
			"goversion": version.GoVersion,
			"goos":      version.GoOS,
			"goarch":    version.GoArch,
			"tags":      version.GetTags(),
		},
	}, func() float64 { return 1 })
}

// registerState registers what the exporter reports about itself besides what is true of any process.
func registerState(registry *prometheus.Registry, e *Exporter) error {
	gauge := func(m catalog.Gauge, value func() float64, labels ...string) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.Name, Help: m.Help, ConstLabels: constLabels(m.Metric, labels)}, value)
	}
	collectors := []prometheus.Collector{
		newKindUp(e.targets),
		gauge(catalog.ExporterKinds, func() float64 { return float64(len(kindsOf(e.targets.list()))) }, catalog.KindsWatched),
		gauge(catalog.ExporterKinds, func() float64 { return float64(e.follower.countForbidden()) }, catalog.KindsForbidden),
		gauge(catalog.ExporterShards, func() float64 { return float64(max(e.shard.Total, 1)) }, strconv.Itoa(e.shard.Ordinal)),
		gauge(catalog.ExporterConfigReloaded, func() float64 {
			if good, _ := e.reloader.state(); good {
				return 1
			}
			return 0
		}),
		gauge(catalog.ExporterConfigReloadedTime, func() float64 {
			_, at := e.reloader.state()
			return float64(at.UnixMilli()) / 1000
		}),
	}
	counters := &e.follower.count
	for result, counter := range map[string]*prometheus.Counter{
		catalog.DiscoveryComplete: &counters.complete, catalog.DiscoveryPartial: &counters.partial, catalog.DiscoveryFailed: &counters.failed,
	} {
		m := catalog.ExporterDiscoveries
		*counter = prometheus.NewCounter(prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: constLabels(m.Metric, []string{result})})
		collectors = append(collectors, *counter)
	}
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func constLabels(m catalog.Metric, values []string) prometheus.Labels {
	labels := prometheus.Labels{}
	for i, name := range m.LabelNames() {
		labels[name] = values[i]
	}
	return labels
}

// discoveryCounter counts discoveries by their result.
type discoveryCounter struct{ complete, partial, failed prometheus.Counter }

// kindUp reports the availability of each kind. A kind that is watched in several namespaces is up if it is up in all.
type kindUp struct {
	desc    *prometheus.Desc
	targets *set
}

func newKindUp(targets *set) *kindUp {
	m := catalog.ExporterKindUp
	return &kindUp{desc: prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil), targets: targets}
}

// Describe implements prometheus.Collector.
func (k *kindUp) Describe(descs chan<- *prometheus.Desc) { descs <- k.desc }

// Collect implements prometheus.Collector.
func (k *kindUp) Collect(metrics chan<- prometheus.Metric) {
	up := map[string]float64{}
	for _, t := range k.targets.list() {
		informerType := t.kind.Type()
		if _, seen := up[informerType]; !seen {
			up[informerType] = 1
		}
		if !t.availability.up() {
			up[informerType] = 0
		}
	}
	for informerType, value := range up {
		metrics <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, value, informerType)
	}
}
