package catalog

// The exporter about itself.
var (
	ExporterBuildInfo = define(Metric{
		Name:   "informer_exporter_build_info",
		Help:   "Always 1; the labels tell what was built.",
		Kind:   Gauge,
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
	ExporterKindUp = define(Metric{
		Name:   "informer_exporter_kind_up",
		Help:   "Whether the exporter can list and watch the resource (1) or not (0), by the API server's last answer, for each resource that it was asked to watch. Forbidden and missing resources are 0, and all before the first answer. An unreachable server changes nothing; see k8s_informer_watch_connected.",
		Kind:   Gauge,
		Family: Exporter,
		Labels: []Label{LabelInformerType},
		Covers: []string{"O1"},
	})
)
