package catalog

// Series: what the library does to bound their number.
var (
	InformerLabelOverflow = counter(Metric{
		Name:   "k8s_informer_label_overflow_total",
		Help:   "Informers, handlers, controllers and other items that got `other` as the value of a label, because the label had as many values as it may have when they were made. All of them share their series. If the values are right, raise the limit of the label: Options.Limits of the library.",
		Family: Series,
		Labels: []Label{LabelName, LabelCapped},
	})
)
