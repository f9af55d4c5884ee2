package discovery

import (
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// choice is a kind that the configuration asks for.
type choice struct {
	kinds.Kind
	// found tells that no name asks for it: a pattern matches it, or it is a custom resource. It is left out if it may not
	// be watched.
	found bool
}

// guessedVersion is asked for if nothing tells the version of a kind. Its answer is then at least that it is missing.
const guessedVersion = "v1"

// choose returns the kinds that a valid configuration asks for, each once: first those that are named, in the order of
// the configuration, then those that were found, in the order of their names.
//
// It chooses from what the API server serves. As long as that is not known, s is nil, and only kinds are returned whose
// version is known otherwise. before are the kinds that have been watched so far, by Type: a kind keeps its version as
// long as that is served, and is kept if it is not served only because the server could not tell about its group.
func choose(c config.Config, s *served, before map[string]kinds.Kind) (choices []choice) {
	taken := map[string]bool{}
	for _, name := range c.ExcludeResources {
		taken[name] = true // which is quicker than to compare it as a pattern
	}
	take := func(k kinds.Kind, found bool) {
		if name := k.Type(); !taken[name] && !kinds.Matches(c.ExcludeResources, name) {
			taken[name] = true
			choices = append(choices, choice{k, found})
		}
	}
	var patterns []string
	for _, e := range c.Entries() {
		if kinds.IsPattern(e.Name) {
			patterns = append(patterns, e.Name)
		} else if kind, ok := resolve(e, s, before[e.Name]); ok {
			take(kind, false)
		}
	}
	if s == nil {
		return choices
	}
	custom := c.AllCustomResources()
	for _, name := range s.names(before) {
		kind, alias := s.kind(name, before[name])
		switch {
		case alias, kinds.MustBeNamed(name), name == kinds.Leases && !c.Objects.WholeLeases(), !kind.Namespaced && len(c.Namespaces) > 0:
		case custom && kinds.IsCustom(kind.Group), kinds.Matches(patterns, name):
			take(kind, true)
		}
	}
	return choices
}

// resolve returns the kind that an entry without a pattern asks for, false if there is none or it is not known yet.
func resolve(e config.Entry, s *served, before kinds.Kind) (kinds.Kind, bool) {
	kind := e.Kind()
	switch {
	case s == nil:
	case s.has(e.Name) || s.failed[kind.Group] && before.Resource != "":
		kind, _ = s.kind(e.Name, before)
	case e.ByDefault && !s.failed[kind.Group]:
		return kinds.Kind{}, false // it is nothing that somebody waits for
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
