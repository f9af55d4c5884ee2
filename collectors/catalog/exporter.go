package catalog

// Metrics of the exporter itself.
var (
	ExporterBuildInfo = gauge(familyExporter, Metric{
		Name: "informer_exporter_build_info",
		Help: "Version of the exporter in its labels, always 1.",
		Labels: []Label{
			{Name: "version", Help: "version of informer-exporter"},
			{Name: "revision", Help: "commit of the build"},
			{Name: "branch", Help: "branch of the build"},
			{Name: "goversion", Help: "Go version"},
			{Name: "goos", Help: "operating system"},
			{Name: "goarch", Help: "architecture"},
			{Name: "tags", Help: "build tags"},
		},
	})
	ExporterKindUp = gauge(familyExporter, Metric{
		Name:   "informer_exporter_kind_up",
		Help:   "Whether the exporter can list and watch the resource (1) or not (0).",
		Notes:  "0 if the resource is forbidden, missing or unsupported, if the credentials are rejected, and until the first watch opens. Unchanged while the API server is unreachable; see `k8s_informer_watch_connected`.",
		Labels: []Label{LabelInformerType},
	})
	ExporterKindWithoutStatusSubresource = gauge(familyExporter, Metric{
		Name:   "informer_exporter_kind_without_status_subresource",
		Help:   "Resources that have a status but no status subresource, always 1.",
		Notes:  "Each status update increments `metadata.generation`, needs permission to change the spec, and conflicts with its updates: add `subresources.status` to the CustomResourceDefinition. Only for resources with an observed generation: custom resources and some of Kubernetes.",
		Labels: []Label{LabelInformerType},
	})
	ExporterKinds = gauge(familyExporter, Metric{
		Name:   "informer_exporter_kinds",
		Help:   "Number of resources, by state.",
		Notes:  "`watched` includes missing and forbidden resources that the configuration names. Resources selected in other ways are skipped if the exporter may not list them (`forbidden`) or already watches 1,000 (`over_limit`).",
		Labels: []Label{closed("state", "state of the resource", "watched", "forbidden", "over_limit")},
	})
	ExporterDiscoveries = counter(familyExporter, Metric{
		Name:   "informer_exporter_discoveries_total",
		Help:   "Number of API discoveries, by result.",
		Notes:  "Resources of API groups that are missing in the response remain unchanged.",
		Labels: []Label{closed("result", "completeness of the response", "complete", "partial", "error")},
	})
	ExporterShards = gauge(familyExporter, Metric{
		Name:   "informer_exporter_shards",
		Help:   "Number of shards configured for this exporter, 1 without sharding.",
		Notes:  "The label shard is the ordinal of this exporter.",
		Labels: []Label{{Name: "shard", Help: "ordinal of the shard, from 0, shared by its replicas"}},
	})
	ExporterWatchCacheStale = gauge(familyExporter, Metric{
		Name:  "informer_exporter_watch_cache_stale_seconds",
		Help:  "Time for which the API server's watch cache has lacked a resource version that etcd has in seconds, 0 if it has it.",
		Notes: "Once a minute, the exporter lists one object of the next resource, first with etcd's version and then from the cache (Kubernetes 1.31 and later). The log names the resource. 0 if the API server or the resource cannot be read. Exporters that connect to other API servers report for these.",
	})
	ExporterConfigReloaded = gauge(familyExporter, Metric{
		Name:  "informer_exporter_config_last_reload_successful",
		Help:  "Whether the last reload of the configuration file succeeded (1) or not (0).",
		Notes: "After a failure the previous configuration stays in effect. Always 1 without a file.",
	})
	ExporterConfigReloadedTime = gauge(familyExporter, Metric{
		Name: "informer_exporter_config_last_reload_success_timestamp_seconds",
		Help: "Unix timestamp of the last successful configuration reload in seconds.",
	})
)
