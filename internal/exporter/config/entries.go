package config

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Entry is a name or pattern that selects kinds.
type Entry struct {
	Resource
	// ByDefault is set for default resources.
	ByDefault bool
}

// Kind returns the kind of an entry without a pattern. Its version is empty if only the API server knows it.
func (e Entry) Kind() kinds.Kind {
	kind, known := kinds.Known(e.Name)
	if !known {
		gr := schema.ParseGroupResource(e.Name)
		kind = kinds.Kind{Group: gr.Group, Resource: gr.Resource, Namespaced: e.Scope != ScopeCluster}
	}
	if e.Version != "" {
		kind.Version = e.Version
	}
	return kind
}

// Entries returns the entries that select kinds, in order.
func (c Config) Entries() (entries []Entry) {
	if len(c.Resources) == 0 {
		for _, k := range kinds.Default() {
			if (k.Namespaced || len(c.Namespaces) == 0) && (k.Type() != kinds.Leases || c.Objects.WholeLeases()) {
				entries = append(entries, Entry{Resource{Name: k.Type()}, true})
			}
		}
	}
	for _, r := range slices.Concat(c.Resources, c.ExtraResources) {
		entries = append(entries, Entry{r, false})
	}
	return entries
}

// Scopes returns the namespaces in which a kind is watched, or NamespaceAll.
func (c Config) Scopes(k kinds.Kind) []string {
	if k.Namespaced && len(c.Namespaces) > 0 {
		return c.Namespaces
	}
	return []string{metav1.NamespaceAll}
}

// AllCustomResources reports whether all custom resources are watched.
func (c Config) AllCustomResources() bool {
	return len(c.Resources) == 0 && isOn(c.CustomResources)
}

// withoutGenerations is the default of the field WithoutGenerations.
var withoutGenerations = []string{"pods", "customresourcedefinitions.apiextensions.k8s.io"}

// WholeLeases reports whether Leases are a default kind and read as whole objects.
func (o Objects) WholeLeases() bool { return isOn(o.Leases) }

// WholeObjects reports whether a kind is read as whole objects, to report their observed generation.
func (o Objects) WholeObjects(k kinds.Kind) bool {
	without := o.WithoutGenerations
	if without == nil {
		without = withoutGenerations
	}
	return isOn(o.Generations) && !kinds.Matches(without, k.Type())
}
