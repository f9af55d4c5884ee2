package collectors

import "fmt"

// Limits bounds the number of series: each field limits how many values a label has at the same time. Values beyond the
// limit are reported together as "other" and counted in k8s_informer_label_overflow_total. A zero field is the default.
type Limits struct {
	// InformerTypes limits the label informer_type. The default is 1000.
	InformerTypes int
	// WatchNamespaces limits the label watch_namespace. The default is 2000.
	WatchNamespaces int
	// Handlers limits the label handler. The default is 200.
	Handlers int
	// Indexes limits the label index. The default is 200.
	Indexes int
	// Controllers limits the label controller, and the label name of workqueue_*. The default is 200.
	Controllers int
	// Finalizers limits the label finalizer. The default is 200.
	Finalizers int
	// Locks limits the label lock, and the label name of leader_election_*. The default is 50.
	Locks int
	// Resources limits the label resource of requests to the API server. The default is 1000.
	Resources int
}

func (l Limits) validate() error {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"InformerTypes", l.InformerTypes}, {"WatchNamespaces", l.WatchNamespaces}, {"Handlers", l.Handlers}, {"Indexes", l.Indexes},
		{"Controllers", l.Controllers}, {"Finalizers", l.Finalizers}, {"Locks", l.Locks}, {"Resources", l.Resources},
	} {
		if limit.value < 0 {
			return fmt.Errorf("collectors: Options.Limits.%s is %d: use a positive number, or 0 for the default", limit.name, limit.value)
		}
	}
	return nil
}
