// Package config reads and validates the configuration file of the exporter, reloads it when it changes, documents its fields
// and derives the RBAC rules that it needs. It never talks to the API server.
package config

import (
	_ "embed"
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

// Reference is the page that documents the file: each field, with its type and its defaults.
//
//go:embed configuration.md
var Reference string

// Config is the configuration file. The zero value watches the default resources and all custom resources in all namespaces.
// Reference documents the fields.
type Config struct {
	Resources        []Resource `yaml:"resources,omitempty"`
	ExtraResources   []Resource `yaml:"extraResources,omitempty"`
	ExcludeResources []string   `yaml:"excludeResources,omitempty"`
	CustomResources  *bool      `yaml:"customResources,omitempty"`
	Namespaces       []string   `yaml:"namespaces,omitempty"`
	LabelSelector    string     `yaml:"labelSelector,omitempty"`
	SplitResources   []string   `yaml:"splitResources,omitempty"`
	SplitBy          string     `yaml:"splitBy,omitempty"`
	Checks           Checks     `yaml:"checks,omitempty"`
	Objects          Objects    `yaml:"objects,omitempty"`
	Detail           string     `yaml:"detail,omitempty"`
	Histograms       string     `yaml:"histograms,omitempty"`
}

// Checks are the intervals of cache checks, such as "30s". "0s" disables a check.
type Checks struct {
	Freshness *configfile.Duration `yaml:"freshness,omitempty"`
	Audit     *configfile.Duration `yaml:"audit,omitempty"`
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
	Leases             *bool    `yaml:"leases,omitempty"`
	Generations        *bool    `yaml:"generations,omitempty"`
	WithoutGenerations []string `yaml:"withoutGenerations,omitempty"`
	FirstNamespaces    []string `yaml:"firstNamespaces,omitempty"`
}

// Resource selects a resource, or all resources that match a pattern. A Resource with only a name can be written as a string.
type Resource struct {
	Name    string `yaml:"name"`
	Version string `yaml:"version,omitempty"`
	Scope   string `yaml:"scope,omitempty"`
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
	each := func(field string, values []string, validate func(field, value string) error) {
		for i, value := range values {
			if err := validate(fmt.Sprintf("%s[%d]", field, i), value); err != nil {
				errs = append(errs, err)
			}
		}
	}
	oneOf := func(field, value string, allowed ...string) {
		if value != "" && !slices.Contains(allowed, value) {
			last := len(allowed) - 1
			errs = append(errs, mistake(field, "%q is not supported; write %s or %s", value, strings.Join(allowed[:last], ", "), allowed[last]))
		}
	}
	each("excludeResources", c.ExcludeResources, validateName)
	each("splitResources", c.SplitResources, validateName)
	oneOf("detail", c.Detail, DetailFull, DetailEssential)
	oneOf("histograms", c.Histograms, HistogramsClassic, HistogramsNative, HistogramsBoth)
	oneOf("splitBy", c.SplitBy, SplitByUID, SplitByNamespaces)
	each("objects.withoutGenerations", c.Objects.WithoutGenerations, validateName)
	if len(c.Namespaces) >= MaxNamespaces {
		errs = append(errs, mistake("namespaces", "%d are too many; omit namespaces to watch all of them", len(c.Namespaces)))
	}
	seen := map[string]bool{}
	each("namespaces", c.Namespaces, func(field, ns string) error {
		defer func() { seen[ns] = true }()
		switch {
		case seen[ns]:
			return mistake(field, "%q is repeated", ns)
		case len(validation.IsDNS1123Label(ns)) > 0:
			return mistake(field, "%q is not a valid namespace; omit namespaces to watch all of them", ns)
		}
		return nil
	})
	each("objects.firstNamespaces", c.Objects.FirstNamespaces, func(field, ns string) error {
		if len(validation.IsDNS1123Label(ns)) > 0 {
			return mistake(field, "%q is not a valid namespace", ns)
		}
		return nil
	})
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
