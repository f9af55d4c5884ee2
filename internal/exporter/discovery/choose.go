package discovery

import (
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Choice is a kind that the configuration selects.
type Choice struct {
	kinds.Kind
	// Optional kinds are left out if they are forbidden: custom resources, and kinds that only a pattern selects.
	Optional bool
}

// guessedVersion is used if the version of a kind is unknown, so that the kind is reported as missing.
const guessedVersion = "v1"

// choose returns the kinds that a valid configuration selects, without duplicates: named ones first, in the order of the
// configuration, then those that were found, sorted by name.
//
// Until the first discovery s is nil, and only kinds with a known version are returned. before are the current kinds, by Type.
// A kind keeps its version while that is served, and stays if the discovery of its group failed.
func choose(c config.Config, s *served, before map[string]kinds.Kind) (choices []Choice) {
	taken := map[string]bool{}
	for _, name := range c.ExcludeResources {
		taken[name] = true // faster than matching it as a pattern
	}
	take := func(k kinds.Kind, optional bool) {
		if name := k.Type(); !taken[name] && !kinds.Matches(c.ExcludeResources, name) {
			taken[name] = true
			choices = append(choices, Choice{k, optional})
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

// resolve returns the kind of an entry without a pattern, or false if it does not exist or is not known yet.
func resolve(e config.Entry, s *served, before kinds.Kind) (kinds.Kind, bool) {
	kind := e.Kind()
	switch {
	case s == nil:
	case s.has(e.Name) || s.failed[kind.Group] && before.Resource != "":
		kind, _ = s.kind(e.Name, before)
	case e.ByDefault && !s.failed[kind.Group]:
		return kinds.Kind{}, false // a missing default kind is not reported
	case before.Resource != "":
		kind = before // deleted: missing in every version
	case kind.Version == "":
		kind.Version = guessedVersion
	}
	if e.Version != "" {
		kind.Version = e.Version
	}
	return kind, kind.Version != ""
}
