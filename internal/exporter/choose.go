package exporter

import (
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// choice is a kind that the configuration asks for.
type choice struct {
	Kind
	// found tells that no name asks for it: a pattern matches it, or it is a custom resource. It is left out if it may not
	// be watched.
	found bool
}

// entry is a name or pattern that asks for kinds.
type entry struct {
	Resource
	// byDefault tells that the configuration does not have it.
	byDefault bool
}

// guessedVersion is asked for if nothing tells the version of a kind. Its answer is then at least that it is missing.
const guessedVersion = "v1"

// entries returns what asks for kinds, in order.
func (c Config) entries() (entries []entry) {
	if len(c.Resources) == 0 {
		for _, k := range defaultKinds {
			if (k.Namespaced || len(c.Namespaces) == 0) && (k.Type() != leasesType || isOn(c.Objects.Leases)) {
				entries = append(entries, entry{Resource{Name: k.Type()}, true})
			}
		}
	}
	for _, r := range slices.Concat(c.Resources, c.ExtraResources) {
		entries = append(entries, entry{r, false})
	}
	return entries
}

// choose returns the kinds that a valid configuration asks for, each once: first those that are named, in the order of
// the configuration, then those that were found, in the order of their names.
//
// It chooses from what the API server serves. As long as that is not known, s is nil, and only kinds are returned whose
// version is known otherwise. before are the kinds that have been watched so far, by Type: a kind keeps its version as
// long as that is served, and is kept if it is not served only because the server could not tell about its group.
func (c Config) choose(s *served, before map[string]Kind) (choices []choice) {
	taken := map[string]bool{}
	for _, name := range c.ExcludeResources {
		taken[name] = true // which is quicker than to compare it as a pattern
	}
	take := func(k Kind, found bool) {
		if name := k.Type(); !taken[name] && !matches(c.ExcludeResources, name) {
			taken[name] = true
			choices = append(choices, choice{k, found})
		}
	}
	var patterns []string
	for _, e := range c.entries() {
		if isPattern(e.Name) {
			patterns = append(patterns, e.Name)
		} else if kind, ok := e.kind(s, before[e.Name]); ok {
			take(kind, false)
		}
	}
	if s == nil {
		return choices
	}
	custom := len(c.Resources) == 0 && (c.CustomResources == nil || *c.CustomResources)
	for _, name := range s.names(before) {
		kind, alias := s.kind(name, before[name])
		switch {
		case alias, isQuiet(name), name == leasesType && !isOn(c.Objects.Leases), !kind.Namespaced && len(c.Namespaces) > 0:
		case custom && isCustom(kind.Group), matches(patterns, name):
			take(kind, true)
		}
	}
	return choices
}

// kind returns the kind that an entry without a pattern asks for, false if there is none or it is not known yet.
func (e entry) kind(s *served, before Kind) (Kind, bool) {
	kind, known := knownKind(e.Name)
	if !known {
		gr := schema.ParseGroupResource(e.Name)
		kind = Kind{Group: gr.Group, Resource: gr.Resource, Namespaced: e.Scope != ScopeCluster}
	}
	switch {
	case s == nil:
	case s.has(e.Name) || s.failed[kind.Group] && before.Resource != "":
		kind, _ = s.kind(e.Name, before)
	case e.byDefault && !s.failed[kind.Group]:
		return Kind{}, false // it is nothing that somebody waits for
	case before.Resource != "":
		kind = before // it has vanished, and is missing under one version as under another
	case kind.Version == "":
		kind.Version = guessedVersion
	}
	if e.Version != "" {
		kind.Version = e.Version
	}
	return kind, kind.Version != ""
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // patterns have been validated
		return ok
	})
}

// isCustom tells whether a group is no part of Kubernetes itself: that of CustomResourceDefinitions, or of an API server
// that is aggregated.
func isCustom(group string) bool {
	return !scheme.Scheme.IsGroupRegistered(group) && !slices.Contains([]string{"apiextensions.k8s.io", "apiregistration.k8s.io"}, group)
}

// isQuiet tells whether a kind must be named: see optionalKinds for the reasons.
func isQuiet(name string) bool {
	return slices.Contains([]string{"secrets", "events", "events.events.k8s.io"}, name)
}

// scopes returns the namespaces in which a kind is watched, which are "" for all of them.
func (c Config) scopes(k Kind) []string {
	if k.Namespaced && len(c.Namespaces) > 0 {
		return c.Namespaces
	}
	return []string{metav1.NamespaceAll}
}

// subject returns how a kind is watched in a scope.
func (c Config) subject(k Kind, namespace string) subject {
	return subject{kind: k, namespace: namespace, selector: strings.TrimSpace(c.LabelSelector), content: c.Objects.content(k), checks: c.Checks.library()}
}

// kindsOf returns the kinds of targets by Type.
func kindsOf(targets []*target) map[string]Kind {
	kinds := make(map[string]Kind, len(targets))
	for _, t := range targets {
		kinds[t.kind.Type()] = t.kind
	}
	return kinds
}
