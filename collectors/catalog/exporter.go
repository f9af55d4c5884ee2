package catalog

// Metrics of the exporter itself.
var (
	ExporterBuildInfo = gauge(Metric{
		Name:   "informer_exporter_build_info",
		Help:   "Version of the exporter in its labels, always 1.",
		Family: familyExporter,
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
	ExporterKindUp = gauge(Metric{
		Name:   "informer_exporter_kind_up",
		Help:   "Whether the exporter can list and watch the resource (1) or not (0).",
		Notes:  "Reflects the last response of the API server. 0 if the resource is forbidden, missing or unsupported, if the credentials are rejected, and until the first watch opens. Does not change while the API server is unreachable; see k8s_informer_watch_connected.",
		Family: familyExporter,
		Labels: []Label{LabelInformerType},
	})
	ExporterKindWithoutStatusSubresource = gauge(Metric{
		Name:   "informer_exporter_kind_without_status_subresource",
		Help:   "Resources that have a status but no status subresource, always 1.",
		Notes:  "Each status update is then an update of the main resource: it increments `metadata.generation`, needs permission to change the spec, and conflicts with updates of the spec. Add `subresources.status` to the CustomResourceDefinition. Only for resources for which the exporter looks for an observed generation, by default custom resources and some of Kubernetes.",
		Family: familyExporter,
		Labels: []Label{LabelInformerType},
	})
	ExporterKinds = gauge(Metric{
		Name:   "informer_exporter_kinds",
		Help:   "Number of resources, by state.",
		Notes:  "The state `watched` includes missing and forbidden resources that are named in the configuration. `forbidden` counts resources that are selected only by a pattern or as custom resources, and skipped because the exporter is not allowed to list them. `over_limit` counts resources that are selected in the same way, and skipped because the exporter watches 1,000 resources.",
		Family: familyExporter,
		Labels: []Label{{Name: "state", Help: "state of the resource", Values: []string{"watched", "forbidden", "over_limit"}}},
	})
	ExporterDiscoveries = counter(Metric{
		Name:   "informer_exporter_discoveries_total",
		Help:   "Number of API discoveries, by result.",
		Notes:  "After a partial discovery, resources of the missing API groups remain unchanged; after a failed one, all resources do.",
		Family: familyExporter,
		Labels: []Label{{Name: "result", Help: "completeness of the response", Values: []string{"complete", "partial", "error"}}},
	})
	ExporterShards = gauge(Metric{
		Name:   "informer_exporter_shards",
		Help:   "Number of shards configured for this exporter, 1 without sharding.",
		Notes:  "The label shard is the ordinal of this exporter.",
		Family: familyExporter,
		Labels: []Label{{Name: "shard", Help: "ordinal of the shard, from 0, shared by its replicas"}},
	})
	ExporterConfigReloaded = gauge(Metric{
		Name:   "informer_exporter_config_last_reload_successful",
		Help:   "Whether the last reload of the configuration file succeeded (1) or not (0).",
		Notes:  "After a failed reload the previous configuration stays in effect. Always 1 without a configuration file.",
		Family: familyExporter,
	})
	ExporterConfigReloadedTime = gauge(Metric{
		Name:   "informer_exporter_config_last_reload_success_timestamp_seconds",
		Help:   "Unix timestamp of the last successful configuration reload in seconds.",
		Family: familyExporter,
	})
)
