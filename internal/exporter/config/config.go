// Package config reads and validates the configuration file of the exporter, reloads it when it changes, documents its fields
// and derives the RBAC rules that it needs. It never talks to the API server.
package config

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Config is the configuration file. The zero value is the default: the default kinds and all custom resources, in all
// namespaces.
type Config struct {
	// Resources are watched instead of the default kinds and the custom resources. Each is a name, such as "pods" or
	// "deployments.apps", a pattern in which a star stands for any characters, such as "*.example.com" or "*" for
	// everything, or the fields of a Resource. What is named is reported as missing or forbidden if it is; what only a
	// pattern matches is left out then. No pattern matches Secrets and Events: they must be named.
	Resources []Resource `yaml:"resources,omitempty"`
	// ExtraResources are watched besides Resources, or besides the default kinds and the custom resources. They are
	// written as Resources are.
	ExtraResources []Resource `yaml:"extraResources,omitempty"`
	// ExcludeResources are names and patterns, as in Resources, of what is not watched, whatever the other fields say.
	ExcludeResources []string `yaml:"excludeResources,omitempty"`
	// CustomResources tells whether everything that is no part of Kubernetes itself is watched besides the default kinds: the
	// resources of CustomResourceDefinitions and of other API servers. The default is true. It means nothing if Resources
	// are given.
	CustomResources *bool `yaml:"customResources,omitempty"`
	// Namespaces are watched one by one instead of all at once. What lives outside of namespaces is then left out, unless it
	// is named.
	Namespaces []string `yaml:"namespaces,omitempty"`
	// LabelSelector limits everything to the objects that it selects, such as "team=shop,tier notin (test)". It holds for
	// the checks, too. The default is all objects.
	LabelSelector string `yaml:"labelSelector,omitempty"`
	// SplitResources are names and patterns, as in Resources, of what is too much for one exporter: each of those that share
	// the work (--shard) watches a part of its objects, instead of one of them all. Which part, the API server decides by the
	// objects' UIDs if it has the feature gate ShardedListAndWatch, else the namespaces do, which are then watched one by one.
	// It means nothing without --shard.
	SplitResources []string `yaml:"splitResources,omitempty"`
	// SplitBy is how SplitResources are spread: "uid" or "namespaces". The default is to find out what the API server can.
	// Where shards talk to API servers that differ, they may find out different things, and objects are then counted twice
	// or not at all: name the way there. With "uid", that is right with any API server; one without the feature gate then
	// sends every shard all objects, of which each keeps its own.
	SplitBy string `yaml:"splitBy,omitempty"`
	// Checks compare what the exporter has cached with the API server.
	Checks Checks `yaml:"checks,omitempty"`
	// Objects says what is reported about the objects themselves.
	Objects Objects `yaml:"objects,omitempty"`
}

// Checks are the intervals of checks, such as "30s". Missing ones have their default, and "0s" turns a check off.
type Checks struct {
	// Freshness is how often each informer is asked whether it has what the API server has, by one watch request that lasts
	// a second. The default is 30s: with the 23 default kinds, two requests in three seconds.
	Freshness *configfile.Duration `yaml:"freshness,omitempty"`
	// Audit is how often each informer is compared with the API server, object by object, by a LIST of metadata in pages of
	// 500. The default is 10m.
	Audit *configfile.Duration `yaml:"audit,omitempty"`
}

const (
	defaultFreshness = 30 * time.Second
	defaultAudit     = 10 * time.Minute
)

// intervals returns how often there are freshness checks and audits.
func (c Checks) Intervals() (freshness, audit time.Duration) {
	return c.Freshness.Or(defaultFreshness), c.Audit.Or(defaultAudit)
}

// mistake returns the error of a field.
func mistake(path, format string, args ...any) error {
	return fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
}

func isOn(b *bool) bool { return b == nil || *b }

// validate refuses intervals below a second: they would load the API server.
func (c Checks) validate() (errs []error) {
	for _, check := range []struct {
		field string
		value *configfile.Duration
	}{{"freshness", c.Freshness}, {"audit", c.Audit}} {
		if every := check.value.Or(0); every != 0 && every < time.Second {
			errs = append(errs, mistake("checks."+check.field, "%v is too short; use 1s or more, or 0s to turn it off", every))
		}
	}
	return errs
}

// Objects says what is reported about the objects of the cluster, besides those that are held in deletion.
type Objects struct {
	// Leases tells whether Leases are among the default kinds, and are read as a whole to report who holds them. The default
	// is true.
	Leases *bool `yaml:"leases,omitempty"`
	// Generations tells whether objects are read as a whole to report those whose status.observedGeneration trails their
	// generation, for each resource that is watched and has the field. The default is true. Secrets and ConfigMaps are never
	// read as a whole.
	Generations *bool `yaml:"generations,omitempty"`
	// WithoutGenerations are names and patterns, as in Resources, of what is read as metadata only although it has the field.
	// The default is "pods", of which there are the most, and "customresourcedefinitions.apiextensions.k8s.io", which are the
	// largest.
	WithoutGenerations []string `yaml:"withoutGenerations,omitempty"`
}

// Resource asks for one kind, or for all that match a pattern. If it has no other field, its name can stand for it.
type Resource struct {
	// Name is the plural in lower case, followed by the group unless that is the core group: "pods", "deployments.apps". Or
	// it is a pattern.
	Name string `yaml:"name"`
	// Version is the API version. The default is the one that the API server prefers.
	Version string `yaml:"version,omitempty"`
	// Scope is "Namespaced" or "Cluster", as in a CustomResourceDefinition. The API server is asked for that, too; it only
	// matters where that cannot be.
	Scope string `yaml:"scope,omitempty"`
}

// UnmarshalYAML reads a resource that is written as its name or with its fields. With the older signature, unknown fields are
// errors.
func (r *Resource) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&r.Name) == nil {
		return nil
	}
	type fields Resource
	return unmarshal((*fields)(r))
}

// Scopes of a Resource.
const (
	ScopeNamespaced = "Namespaced"
	ScopeCluster    = "Cluster"
)

// Values of Config.SplitBy.
const (
	SplitByUID        = "uid"
	SplitByNamespaces = "namespaces"
)

// Parse reads a configuration in YAML or JSON. Unknown and repeated fields are errors, and every error names its line.
func Parse(data []byte) (Config, error) {
	var config Config
	lines, err := configfile.Decode(data, &config)
	if err != nil {
		return Config{}, err
	}
	if err := lines.Join(config.mistakes()...); err != nil {
		return Config{}, err
	}
	return config, nil
}

// Validate returns every mistake, each with the name of its field.
func (c Config) Validate() error { return errors.Join(c.mistakes()...) }

// What is watched changes while the exporter runs, and is always what the configuration asks for. These leave room for it.
const (
	MaxKinds      = 10_000
	MaxNamespaces = 10_000
)

func (c Config) mistakes() (errs []error) {
	for _, list := range []struct {
		field     string
		resources []Resource
	}{{"resources", c.Resources}, {"extraResources", c.ExtraResources}} {
		seen := map[string]bool{}
		for i, r := range list.resources {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			if err := r.validate(field); err != nil {
				errs = append(errs, err)
			} else if seen[r.Name] {
				errs = append(errs, mistake(field+".name", "%q is there twice", r.Name))
			}
			seen[r.Name] = true
		}
	}
	for i, name := range c.ExcludeResources {
		if err := validateName(fmt.Sprintf("excludeResources[%d]", i), name); err != nil {
			errs = append(errs, err)
		}
	}
	for i, name := range c.SplitResources {
		if err := validateName(fmt.Sprintf("splitResources[%d]", i), name); err != nil {
			errs = append(errs, err)
		}
	}
	if c.SplitBy != "" && c.SplitBy != SplitByUID && c.SplitBy != SplitByNamespaces {
		errs = append(errs, mistake("splitBy", "%q is no way to spread objects; write %s or %s", c.SplitBy, SplitByUID, SplitByNamespaces))
	}
	for i, name := range c.Objects.WithoutGenerations {
		if err := validateName(fmt.Sprintf("objects.withoutGenerations[%d]", i), name); err != nil {
			errs = append(errs, err)
		}
	}
	if len(c.Namespaces) >= MaxNamespaces {
		errs = append(errs, mistake("namespaces", "%d are too many; leave out namespaces to watch all of them", len(c.Namespaces)))
	}
	seen := map[string]bool{}
	for i, ns := range c.Namespaces {
		field := fmt.Sprintf("namespaces[%d]", i)
		switch {
		case seen[ns]:
			errs = append(errs, mistake(field, "%q is there twice", ns))
		case len(validation.IsDNS1123Label(ns)) > 0:
			errs = append(errs, mistake(field, "%q is not the name of a namespace; leave out namespaces to watch all of them", ns))
		}
		seen[ns] = true
	}
	if _, err := labels.Parse(c.LabelSelector); err != nil {
		errs = append(errs, mistake("labelSelector", "%q is not a selector: %v; write one like team=shop,tier!=test", c.LabelSelector, err))
	}
	return append(errs, c.Checks.validate()...)
}

func (r Resource) validate(field string) error {
	if err := validateName(field+".name", r.Name); err != nil {
		return err
	}
	if kinds.IsPattern(r.Name) && (r.Version != "" || r.Scope != "") {
		return mistake(field, "a pattern such as %q has neither version nor scope; name the resource", r.Name)
	}
	if r.Scope != "" && r.Scope != ScopeNamespaced && r.Scope != ScopeCluster {
		return mistake(field+".scope", "%q is not a scope; write %s or %s", r.Scope, ScopeNamespaced, ScopeCluster)
	}
	if r.Version != "" && len(validation.IsDNS1035Label(r.Version)) > 0 {
		return mistake(field+".version", "%q is not a version; write one like v1 or v1beta1", r.Version)
	}
	if kind, known := kinds.Known(r.Name); known && r.Scope != "" && r.Scope != scopeOf(kind) {
		return mistake(field+".scope", "%q is wrong for %s; leave it out", r.Scope, r.Name)
	}
	return nil
}

var pattern = regexp.MustCompile(`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`)

func validateName(field, name string) error {
	if kinds.IsPattern(name) {
		if !pattern.MatchString(name) || len(name) > validation.DNS1123SubdomainMaxLength {
			return mistake(field, "%q is not a pattern; write one like *.example.com, or * for everything", name)
		}
		return nil
	}
	gr := schema.ParseGroupResource(name)
	if len(validation.IsDNS1123Label(gr.Resource)) > 0 || gr.Group != "" && len(validation.IsDNS1123Subdomain(gr.Group)) > 0 {
		return mistake(field, "%q is not a resource; write the plural in lower case and the group, like pods or deployments.apps, or a pattern like *.example.com", name)
	}
	return nil
}

func scopeOf(k kinds.Kind) string {
	if k.Namespaced {
		return ScopeNamespaced
	}
	return ScopeCluster
}
