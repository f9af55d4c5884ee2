package catalog

// Label limits.
var (
	InformerLabelOverflow = counter(Metric{
		Name:   "k8s_informer_label_overflow_total",
		Help:   "Number of informers, handlers, controllers and other items whose label exceeded its limit.",
		Notes:  "Such items share the series with the value `other`. If the values are legitimate, raise the limit of the label: Options.Limits of the library.",
		Family: familySeries,
		Labels: []Label{LabelName, labelCapped},
	})
)
