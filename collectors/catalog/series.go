package catalog

// Label limits, and the end of all informers.
var (
	InformerLabelOverflow = counter(familySeries, Metric{
		Name:      "k8s_informer_label_overflow_total",
		Help:      "Number of items, such as handlers and controllers, reported as other because their label reached its limit.",
		Notes:     "If they are legitimate, raise Options.Limits.",
		Labels:    []Label{LabelName, labelCapped},
		Essential: true,
	})
	InformerEnded = gauge(familySeries, Metric{
		Name:      "k8s_informer_ended",
		Help:      "Whether all informers that ran have ended (1).",
		Notes:     "Absent while one runs.",
		Labels:    []Label{LabelName},
		Essential: true,
	})
)
