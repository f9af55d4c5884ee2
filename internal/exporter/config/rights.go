package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Rights are the RBAC rules that a configuration requires, as few as RBAC can express.
type Rights struct {
	// Cluster are cluster-wide rules.
	Cluster []rbacv1.PolicyRule
	// Namespaced are rules for each of Namespaces.
	Namespaced []rbacv1.PolicyRule
	// Namespaces are the namespaces of the configuration.
	Namespaces []string
	// Notes describe what the rules lack or grant in excess.
	Notes []string
	// Instead are rules that grant less. They are nil unless Cluster or Namespaced grants everything.
	Instead []rbacv1.PolicyRule
}

// Rights returns the rules that a valid configuration requires. It does not access a cluster: patterns become rules for whole groups
// where possible. Discovery needs no rule, because every authenticated user may use it.
func (c Config) Rights() Rights {
	r := Rights{Namespaces: c.Namespaces}
	everywhere, inNamespaces := ruleSet{}, ruleSet{}
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
			r.Notes = append(r.Notes, "The pattern * grants list and watch on everything, including the contents of Secrets. The exporter requests metadata only "+
				"and ignores Secrets unless they are named, but RBAC can express neither.")
			r.Instead = knownRules(len(c.Namespaces) > 0)
		case before == "*" && after != "" && !kinds.IsPattern(after):
			grant(after, "*", true)
			r.Notes = append(r.Notes, fmt.Sprintf("The pattern %s is granted for the group %s only. RBAC has no patterns: add groups below it by name.", e.Name, after))
		case after == "*" && !kinds.IsPattern(before):
			grant("*", before, true)
		default:
			r.Notes = append(r.Notes, fmt.Sprintf("The pattern %s cannot be granted. RBAC has no patterns: add the resources by name.", e.Name))
		}
	}
	if c.AllCustomResources() {
		r.Notes = append(r.Notes, "Custom resources are only watched if RBAC grants list and watch on them, which these rules do not: add their groups to extraResources, such as "+
			`"*.example.com", and run generate again. Forbidden resources are counted by informer_exporter_kinds{state="forbidden"}.`)
	}
	if len(c.SplitResources) > 0 && len(c.Namespaces) == 0 && c.SplitBy != SplitByUID {
		everywhere.add(kinds.Namespaces.Group, kinds.Namespaces.Resource) // to split objects by namespace
	}
	r.Cluster, r.Namespaced = everywhere.rules(), inNamespaces.rules()
	return r
}

// knownRules grant everything in Kubernetes, except kinds that must be named.
func knownRules(namespacedOnly bool) []rbacv1.PolicyRule {
	known := ruleSet{}
	for _, k := range kinds.All() {
		if !kinds.MustBeNamed(k.Type()) && (k.Namespaced || !namespacedOnly) {
			known.add(k.Group, k.Resource)
		}
	}
	return known.rules()
}

// ruleSet maps API groups to resources.
type ruleSet map[string][]string

func (s ruleSet) add(group, resource string) {
	if !slices.Contains(s[group], resource) {
		s[group] = append(s[group], resource)
	}
}

// rules returns one rule per group, sorted, without those that another rule covers.
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
