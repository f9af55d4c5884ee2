package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Rights are what the exporter has to be granted for a configuration: as little as RBAC can express.
type Rights struct {
	// Cluster are the rules that hold everywhere.
	Cluster []rbacv1.PolicyRule
	// Namespaced are the rules that hold in each of Namespaces only.
	Namespaced []rbacv1.PolicyRule
	// Namespaces are those of the configuration.
	Namespaces []string
	// Notes say what the rules leave out or grant too much of.
	Notes []string
	// Instead are rules that grant less than Cluster, nil unless that grants everything.
	Instead []rbacv1.PolicyRule
}

// Rights returns what a valid configuration needs. No cluster is asked, so patterns are granted as rules for whole groups
// where that is possible. Asking what the API server serves needs no right that not everybody has who is authenticated.
func (c Config) Rights() Rights {
	r := Rights{Namespaces: c.Namespaces}
	var everywhere, inNamespaces ruleSet
	grant := func(group, resource string, namespaced bool) {
		if namespaced && len(c.Namespaces) > 0 {
			inNamespaces.add(group, resource)
		} else {
			everywhere.add(group, resource)
		}
	}
	for _, e := range c.Entries() {
		kind := e.Kind()
		before, after, _ := strings.Cut(e.Name, ".")
		switch {
		case kinds.Matches(c.ExcludeResources, e.Name):
		case !kinds.IsPattern(e.Name):
			grant(kind.Group, kind.Resource, kind.Namespaced)
		case e.Name == "*":
			grant("*", "*", true)
			r.Notes = append(r.Notes, "The pattern * grants to list and watch everything. For Secrets that means their contents: the exporter asks for metadata "+
				"only and does not watch Secrets that are not named, but RBAC can neither grant only that nor make an exception.")
			r.Instead = knownRules(len(c.Namespaces) > 0)
		case before == "*" && after != "" && !kinds.IsPattern(after):
			grant(after, "*", true)
			r.Notes = append(r.Notes, fmt.Sprintf("The pattern %s is granted for the group %s. RBAC has no patterns: groups below it must be added by name.", e.Name, after))
		case after == "*" && !kinds.IsPattern(before):
			grant("*", before, true)
		default:
			r.Notes = append(r.Notes, fmt.Sprintf("The pattern %s cannot be granted, since RBAC has no patterns: what it is meant to match must be added by name.", e.Name))
		}
	}
	if c.AllCustomResources() {
		r.Notes = append(r.Notes, "Custom resources are watched where that is granted. Here it is not: add their groups to extraResources, such as "+
			`"*.example.com", and generate this again. What is not granted is left out and counted by informer_exporter_kinds{state="forbidden"}.`)
	}
	if len(c.SplitResources) > 0 && len(c.Namespaces) == 0 && c.SplitBy != SplitByUID {
		everywhere.add(kinds.Namespaces.Group, kinds.Namespaces.Resource) // to spread objects by them
	}
	r.Cluster, r.Namespaced = everywhere.rules(), inNamespaces.rules()
	return r
}

// knownRules grant what Kubernetes itself has, except what must be named.
func knownRules(namespacedOnly bool) []rbacv1.PolicyRule {
	var known ruleSet
	for _, k := range kinds.All() {
		if !kinds.MustBeNamed(k.Type()) && (k.Namespaced || !namespacedOnly) {
			known.add(k.Group, k.Resource)
		}
	}
	return known.rules()
}

// ruleSet collects resources by group.
type ruleSet map[string][]string

func (s *ruleSet) add(group, resource string) {
	if *s == nil {
		*s = ruleSet{}
	}
	if !slices.Contains((*s)[group], resource) {
		(*s)[group] = append((*s)[group], resource)
	}
}

// rules returns one rule for each group, in order. What another one grants already is left out.
func (s ruleSet) rules() (rules []rbacv1.PolicyRule) {
	if slices.Contains(s["*"], "*") {
		s = ruleSet{"*": {"*"}}
	}
	for group, resources := range s {
		if slices.Contains(resources, "*") {
			resources = []string{"*"}
		}
		resources = slices.Sorted(slices.Values(resources))
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"list", "watch"}})
	}
	slices.SortFunc(rules, func(a, b rbacv1.PolicyRule) int { return cmp.Compare(a.APIGroups[0], b.APIGroups[0]) })
	return rules
}
