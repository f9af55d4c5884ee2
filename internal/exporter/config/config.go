// Package config reads and validates the configuration file of the exporter, reloads it when it changes, documents its fields
// and derives the RBAC rules that it needs. It never talks to the API server.
package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Config is the configuration file. The zero value watches the default resources and all custom resources in all namespaces.
type Config struct {
	// Resources replace the default resources and the custom resources. Each entry is a name such as "pods" or
	// "deployments.apps", a pattern such as "*.example.com" or "*", or the fields of a Resource. A missing or forbidden
	// resource is reported if it is named, and skipped if it only matches a pattern. Patterns never match Secrets and Events.
	Resources []Resource `yaml:"resources,omitempty"`
	// ExtraResources are watched in addition to Resources or their defaults, in the same format.
	ExtraResources []Resource `yaml:"extraResources,omitempty"`
	// ExcludeResources are names and patterns of resources that are never watched. They take precedence over all other fields.
	ExcludeResources []string `yaml:"excludeResources,omitempty"`
	// CustomResources enables the resources of CustomResourceDefinitions and of aggregated API servers. It defaults to true,
	// and has no effect with Resources.
	CustomResources *bool `yaml:"customResources,omitempty"`
	// Namespaces limits the exporter to these namespaces, with one watch per resource and namespace. Cluster-scoped resources
	// are only watched if they are named. The default is all namespaces.
	Namespaces []string `yaml:"namespaces,omitempty"`
	// LabelSelector limits all informers and checks to matching objects, such as "team=shop,tier notin (test)".
	LabelSelector string `yaml:"labelSelector,omitempty"`
	// SplitResources are names and patterns of resources that are too large for one exporter: with --shard, each shard watches
	// a part of their objects. The API server selects the part by UID if its feature gate ShardedListAndWatch is enabled.
	// Otherwise, each shard watches a part of the namespaces, with one watch per namespace.
	SplitResources []string `yaml:"splitResources,omitempty"`
	// SplitBy is "uid" or "namespaces". By default, each shard detects what its API server supports. Set it if the shards use
	// API servers that differ: otherwise objects may be counted twice or not at all. "uid" works with any API server, but
	// without the feature gate, each shard receives and drops the objects of the others.
	SplitBy string `yaml:"splitBy,omitempty"`
	// Checks compare the caches with the API server.
	Checks Checks `yaml:"checks,omitempty"`
	// Objects configures the metrics about objects.
	Objects Objects `yaml:"objects,omitempty"`
	// Detail is "full", the default, or "essential", with about half as many series. With "essential", the exporter reports
	// only the number of objects and the metrics that alerts of severity page and ticket read. InformerCoverageGap,
	// InformerHandlersGrow and InformerStaleAfterRestart cannot fire, and most dashboard panels are empty. A change takes
	// effect at the next start.
	Detail string `yaml:"detail,omitempty"`
	// Histograms is "classic", the default, "native" or "both". Native histograms are one series each; Prometheus reads them
	// with "scrape_native_histograms: true", and rules and dashboards with histograms in the generator's configuration. A
	// change takes effect at the next start.
	Histograms string `yaml:"histograms,omitempty"`
}

// Checks are the intervals of cache checks, such as "30s". "0s" disables a check.
type Checks struct {
	// Freshness is the interval of freshness checks, which defaults to 30s. Each is a one-second watch request for one
	// informer: 2 requests per minute. An informer without events and bookmarks is checked within ten intervals: 20 requests
	// per minute for 100 such resources.
	Freshness *configfile.Duration `yaml:"freshness,omitempty"`
	// Audit is the interval of audits, which compare every object of an informer with a LIST of metadata in pages of 1,000. It
	// defaults to 10m.
	Audit *configfile.Duration `yaml:"audit,omitempty"`
}

const (
	defaultFreshness = 30 * time.Second
	defaultAudit     = 10 * time.Minute
)

// Intervals returns the intervals with their defaults.
func (c Checks) Intervals() (freshness, audit time.Duration) {
	return c.Freshness.Or(defaultFreshness), c.Audit.Or(defaultAudit)
}

// mistake returns the error for a field.
func mistake(path, format string, args ...any) error {
	return fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
}

func isOn(b *bool) bool { return b == nil || *b }

// validate rejects intervals below a second, which would load the API server.
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

// Objects configures the metrics about objects. Terminating objects are always reported.
type Objects struct {
	// Leases adds leases.coordination.k8s.io to the default resources and reports the holders, which requires reading whole
	// objects. It defaults to true.
	Leases *bool `yaml:"leases,omitempty"`
	// Generations reports objects with status.observedGeneration < metadata.generation, for which it reads whole objects,
	// except Secrets and ConfigMaps. It defaults to true.
	Generations *bool `yaml:"generations,omitempty"`
	// WithoutGenerations are names and patterns of resources that have the field but are read as metadata only. It defaults to
	// "pods", the most numerous objects, and "customresourcedefinitions.apiextensions.k8s.io", the largest ones.
	WithoutGenerations []string `yaml:"withoutGenerations,omitempty"`
	// FirstNamespaces get series before others, like kube-system, if the objects exceed the series limits. Others
	// share the limits equally. A change takes effect at the next start.
	FirstNamespaces []string `yaml:"firstNamespaces,omitempty"`
}

// Resource selects a resource, or all resources that match a pattern. A Resource with only a name can be written as a string.
type Resource struct {
	// Name is the lower-case plural, followed by the group unless it is the core group: "pods", "deployments.apps". It can also
	// be a pattern.
	Name string `yaml:"name"`
	// Version is the API version. It defaults to the one that the API server prefers.
	Version string `yaml:"version,omitempty"`
	// Scope is "Namespaced" or "Cluster", as in a CustomResourceDefinition. It is used only while discovery fails.
	Scope string `yaml:"scope,omitempty"`
}

// UnmarshalYAML accepts a name or the fields of a resource. This form of the method makes unknown fields errors.
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

// Values of Config.Detail.
const (
	DetailFull      = "full"
	DetailEssential = "essential"
)

// Values of Config.Histograms.
const (
	HistogramsClassic = "classic"
	HistogramsNative  = "native"
	HistogramsBoth    = "both"
)

// Values of Config.SplitBy.
const (
	SplitByUID        = "uid"
	SplitByNamespaces = "namespaces"
)

// Parse reads a configuration in YAML or JSON. Unknown and repeated fields are errors. An error about a field has its line.
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

// Validate returns all errors, each with the path of its field.
func (c Config) Validate() error { return errors.Join(c.mistakes()...) }

// Limits of label values in the library. They leave room, because the configuration may change while the exporter runs.
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
				errs = append(errs, mistake(field+".name", "%q is repeated", r.Name))
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
	if c.Detail != "" && c.Detail != DetailFull && c.Detail != DetailEssential {
		errs = append(errs, mistake("detail", "%q is not supported; write %s or %s", c.Detail, DetailFull, DetailEssential))
	}
	if forms := []string{"", HistogramsClassic, HistogramsNative, HistogramsBoth}; !slices.Contains(forms, c.Histograms) {
		errs = append(errs, mistake("histograms", "%q is not supported; write %s", c.Histograms, strings.Join(forms[1:], ", ")))
	}
	if c.SplitBy != "" && c.SplitBy != SplitByUID && c.SplitBy != SplitByNamespaces {
		errs = append(errs, mistake("splitBy", "%q is not supported; write %s or %s", c.SplitBy, SplitByUID, SplitByNamespaces))
	}
	for i, name := range c.Objects.WithoutGenerations {
		if err := validateName(fmt.Sprintf("objects.withoutGenerations[%d]", i), name); err != nil {
			errs = append(errs, err)
		}
	}
	if len(c.Namespaces) >= MaxNamespaces {
		errs = append(errs, mistake("namespaces", "%d are too many; omit namespaces to watch all of them", len(c.Namespaces)))
	}
	seen := map[string]bool{}
	for i, ns := range c.Namespaces {
		field := fmt.Sprintf("namespaces[%d]", i)
		switch {
		case seen[ns]:
			errs = append(errs, mistake(field, "%q is repeated", ns))
		case len(validation.IsDNS1123Label(ns)) > 0:
			errs = append(errs, mistake(field, "%q is not a valid namespace; omit namespaces to watch all of them", ns))
		}
		seen[ns] = true
	}
	for i, ns := range c.Objects.FirstNamespaces {
		if len(validation.IsDNS1123Label(ns)) > 0 {
			errs = append(errs, mistake(fmt.Sprintf("objects.firstNamespaces[%d]", i), "%q is not a valid namespace", ns))
		}
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
		return mistake(field, "a pattern such as %q has no version or scope; name the resource", r.Name)
	}
	if r.Scope != "" && r.Scope != ScopeNamespaced && r.Scope != ScopeCluster {
		return mistake(field+".scope", "%q is not a scope; write %s or %s", r.Scope, ScopeNamespaced, ScopeCluster)
	}
	if r.Version != "" && len(validation.IsDNS1035Label(r.Version)) > 0 {
		return mistake(field+".version", "%q is not a version; write one like v1 or v1beta1", r.Version)
	}
	if kind, known := kinds.Known(r.Name); known && r.Scope != "" && r.Scope != scopeOf(kind) {
		return mistake(field+".scope", "%q is wrong for %s; omit it", r.Scope, r.Name)
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
