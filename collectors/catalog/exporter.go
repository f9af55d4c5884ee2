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
		Help:   "Whether the exporter can list and watch the resource (1) or not (0), for each resource that it was asked to watch. A resource that the server does not have or that is forbidden is 0.",
		Kind:   Gauge,
		Family: Exporter,
		Labels: []Label{LabelInformerType},
		Covers: []string{"O1"},
	})
)
