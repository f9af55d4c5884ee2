package catalog

// The exporter about itself.
var (
	ExporterBuildInfo = gauge(Metric{
		Name:   "informer_exporter_build_info",
		Help:   "Always 1; the labels tell what was built.",
		Family: Exporter,
		Labels: []Label{
			{Name: "version", Help: "version of informer-exporter"},
			{Name: "revision", Help: "commit it was built from"},
			{Name: "branch", Help: "branch it was built from"},
			{Name: "goversion", Help: "version of Go"},
			{Name: "goos", Help: "operating system"},
			{Name: "goarch", Help: "architecture"},
			{Name: "tags", Help: "build tags"},
		},
	})
	ExporterKindUp = gauge(Metric{
		Name:   "informer_exporter_kind_up",
		Help:   "Whether the exporter can list and watch the resource (1) or not (0), by the API server's last answer, for each resource that it was asked to watch. Forbidden and missing resources are 0, and all before the first answer. An unreachable server changes nothing; see k8s_informer_watch_connected.",
		Family: Exporter,
		Labels: []Label{LabelInformerType},
		Covers: []string{"O1"},
	})
	ExporterKinds = gauge(Metric{
		Name:   "informer_exporter_kinds",
		Help:   "Resources by what has become of them: watched, those that are missing included if they are named; or forbidden, which were found, by a pattern or as custom resources, and are left out because the exporter may not list them.",
		Family: Exporter,
		Labels: []Label{{Name: "state", Help: "what has become of them", Values: []string{KindsWatched, KindsForbidden}}},
		Covers: []string{"O5"},
	})
	ExporterDiscoveries = counter(Metric{
		Name:   "informer_exporter_discoveries_total",
		Help:   "How often the API server was asked what it serves, by the answer. After a partial one, what is watched of the API groups that it could not tell about stays as it is; after a failed one, everything.",
		Family: Exporter,
		Labels: []Label{{Name: "result", Help: "what was answered", Values: []string{DiscoveryComplete, DiscoveryPartial, DiscoveryFailed}}},
		Covers: []string{"O7"},
	})
	ExporterShards = gauge(Metric{
		Name:   "informer_exporter_shards",
		Help:   "How many exporters share the work, as this one was told; 1 if it does all of it. The label tells which of them this one is.",
		Family: Exporter,
		Labels: []Label{{Name: "shard", Help: "number of the shard, from 0; replicas of one shard have the same"}},
	})
	ExporterConfigReloaded = gauge(Metric{
		Name:   "informer_exporter_config_last_reload_successful",
		Help:   "Whether the configuration file, as it is now, is in force (1), or could not be used and the configuration before it is (0). Always 1 without a file.",
		Family: Exporter,
		Covers: []string{"O5"},
	})
	ExporterConfigReloadedTime = gauge(Metric{
		Name:   "informer_exporter_config_last_reload_success_timestamp_seconds",
		Help:   "Unix time at which the configuration was last read successfully.",
		Family: Exporter,
		Covers: []string{"O5"},
	})
)

// Values of the label state of ExporterKinds.
const (
	KindsWatched   = "watched"
	KindsForbidden = "forbidden"
)

// Values of the label result of ExporterDiscoveries.
const (
	// DiscoveryComplete is an answer about every group.
	DiscoveryComplete = "complete"
	// DiscoveryPartial lacks some groups: an aggregated API server is down.
	DiscoveryPartial = "partial"
	// DiscoveryFailed is no answer.
	DiscoveryFailed = "error"
)
