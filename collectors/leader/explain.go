package leader

import (
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

var _ inspection.Explainer = &registry{}

// Explain implements inspection.Explainer. A program usually has one lock: with several, it leads if it leads one.
func (r *registry) Explain(e *inspection.Explanation) {
	locks := r.locks.Values()
	if len(locks) == 0 {
		return
	}
	leads := false
	for _, s := range locks {
		s.mu.Lock()
		leads = leads || s.leads(r.Now())
		s.mu.Unlock()
	}
	e.Leader = &leads
	if !leads {
		e.Add(inspection.NotLeading, "this process does not lead, so its controllers do not run")
	}
}
