// Package check finds the problems of a cluster at one moment, for informer-exporter check: informers that are not consistent with the API
// server, resources that cannot be watched, and objects without a working controller. Unlike metrics, it names objects.
package check

import (
	"cmp"
	"slices"
	"time"
)

// Types of problems. For a resource that the API server rejects, the type is a constant of package availability: forbidden,
// unauthorized, missing or unsupported.
const (
	DiscoveryFailed = "discovery_failed" // the API server does not list the resources of a group
	NotSynced       = "not_synced"       // no response, or the initial sync is not complete
	Stale           = "stale"            // sync lag above the objective
	Inconsistent    = "inconsistent"     // audits found differences from the API server
	Terminating     = "terminating"      // an object has been terminating for too long
	NoLeader        = "no_leader"        // a Lease of a leader election has expired or was released
	GenerationLag   = "generation_lag"   // status.observedGeneration < metadata.generation
)

// Problem is one finding.
type Problem struct {
	Type string `json:"type"`
	// Resource is the value of the label informer_type, such as "deployments.apps", or a group.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// AgeSeconds is how long the problem has existed, 0 if unknown.
	AgeSeconds float64 `json:"ageSeconds,omitempty"`
	Detail     string  `json:"detail"`
}

// Report is the result of a check.
type Report struct {
	Server    string    `json:"server"`
	Informers int       `json:"informers"`
	Objects   int       `json:"objects"`
	Problems  []Problem `json:"problems"`
	// Watched are the resources, by the value of the label informer_type.
	Watched map[string]bool `json:"-"`
	// Notes say what was not checked, and have findings that are not problems.
	Notes []string `json:"notes,omitempty"`
}

// Options for Find. The zero value uses the objectives of alerts.
type Options struct {
	// OlderThan is the age from which terminating objects, expired Leases and the observed generation lag are problems. If nil, the
	// objectives of alerts apply.
	OlderThan *time.Duration
	// Changed returns when the spec of an object last changed. If nil, the age of the observed generation lag is unknown, and
	// any lag is a problem.
	Changed func(Object) (time.Time, error)
}

// Sort sorts problems by type: those of the API server, of informers, of objects. Within a type and resource, the oldest is first.
func (r *Report) Sort() {
	order := []string{DiscoveryFailed, "unauthorized", "forbidden", "missing", "unsupported", NotSynced, Inconsistent, Stale, NoLeader, Terminating, GenerationLag}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Type), slices.Index(order, b.Type)),
			cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(b.AgeSeconds, a.AgeSeconds),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	})
}
