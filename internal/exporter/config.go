package exporter

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Config is the configuration file. The zero value is the default: every default kind in all namespaces.
type Config struct {
	// Resources are watched instead of the default kinds.
	Resources []Resource `json:"resources,omitempty"`
	// ExtraResources are watched besides Resources or the default kinds.
	ExtraResources []Resource `json:"extraResources,omitempty"`
	// Namespaces are watched one by one instead of all at once. Unless Resources says otherwise, kinds that live outside
	// of namespaces are then left out.
	Namespaces []string `json:"namespaces,omitempty"`
	// Checks compare what the exporter has cached with the API server.
	Checks Checks `json:"checks,omitempty"`
}

// Checks are the intervals of checks, such as "30s". Missing ones have their default, and "0s" turns a check off.
type Checks struct {
	// Freshness is how often each informer is asked whether it has what the API server has, by one watch request that lasts
	// a second. The default is 30s: with the 22 default kinds, two requests in three seconds.
	Freshness *metav1.Duration `json:"freshness,omitempty"`
	// Audit is how often each informer is compared with the API server, object by object, by a LIST of metadata in pages of
	// 500. The default is 10m.
	Audit *metav1.Duration `json:"audit,omitempty"`
}

const (
	defaultFreshness = 30 * time.Second
	defaultAudit     = 10 * time.Minute
)

func (c Checks) library() collectors.Checks {
	return collectors.Checks{
		Freshness: orDefault(c.Freshness, defaultFreshness),
		Audit:     orDefault(c.Audit, defaultAudit),
	}
}

func orDefault(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

// validate refuses intervals below a second: they would load the API server.
func (c Checks) validate() error {
	var errs []error
	for _, check := range []struct {
		field string
		value *metav1.Duration
	}{{"freshness", c.Freshness}, {"audit", c.Audit}} {
		field, d := check.field, check.value
		if d != nil && d.Duration != 0 && d.Duration < time.Second {
			errs = append(errs, fmt.Errorf("checks.%s: %v is too short; use 1s or more, or 0s to turn it off", field, d.Duration))
		}
	}
	return errors.Join(errs...)
}

// Resource asks for one kind.
type Resource struct {
	// Name is the plural in lower case, followed by the group unless that is the core group: "pods",
	// "deployments.apps".
	Name string `json:"name"`
	// Version is the API version. Kinds that the exporter knows have one already.
	Version string `json:"version,omitempty"`
	// Scope is "Namespaced" or "Cluster", as in a CustomResourceDefinition. Empty is Namespaced, or what is known of a
	// kind that the exporter knows.
	Scope string `json:"scope,omitempty"`
}

// Scopes of a Resource.
const (
	ScopeNamespaced = "Namespaced"
	ScopeCluster    = "Cluster"
)

// LoadConfig reads a configuration file. An empty path is the default configuration.
func LoadConfig(path string) (Config, error) {
	if path == "" {
		return Config{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("--config.file: %w", err)
	}
	config, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("--config.file %s: %w", path, err)
	}
	return config, nil
}

// ParseConfig reads a configuration in YAML or JSON. A field that does not exist is an error, as is one that appears
// twice.
func ParseConfig(data []byte) (Config, error) {
	var config Config
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		return Config{}, err
	}
	if err := config.Validate(); err != nil {
		return Config{}, err
	}
	return config, nil
}

// Validate returns every mistake, each with the name of its field.
func (c Config) Validate() error {
	_, err := c.kinds()
	err = errors.Join(err, c.Checks.validate())
	if len(c.Namespaces) >= maxNamespaces {
		err = errors.Join(err, fmt.Errorf("namespaces: %d are too many; leave out namespaces to watch all of them", len(c.Namespaces)))
	}
	seen := map[string]bool{}
	for i, ns := range c.Namespaces {
		twice := seen[ns]
		seen[ns] = true
		switch {
		case twice:
			err = errors.Join(err, fmt.Errorf("namespaces[%d]: %q is there twice", i, ns))
		case len(validation.IsDNS1123Label(ns)) > 0:
			err = errors.Join(err, fmt.Errorf("namespaces[%d]: %q is not the name of a namespace; leave out namespaces to watch all of them", i, ns))
		}
	}
	return err
}

// What is watched changes while the exporter runs, and is always what the configuration asks for. These leave room for it.
const (
	maxKinds      = 10_000
	maxNamespaces = 10_000
)

// kinds returns what is to be watched, without repetitions.
func (c Config) kinds() ([]Kind, error) {
	var errs []error
	kinds := defaultKinds
	if len(c.Namespaces) > 0 {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return !k.Namespaced })
	}
	if len(c.Resources) > 0 {
		kinds = nil
	}
	kinds = slices.Clone(kinds)
	for _, list := range []struct {
		field     string
		resources []Resource
	}{{"resources", c.Resources}, {"extraResources", c.ExtraResources}} {
		seen := map[string]bool{}
		for i, r := range list.resources {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			kind, err := r.kind(field)
			switch {
			case err != nil:
				errs = append(errs, err)
			case seen[r.Name]:
				errs = append(errs, fmt.Errorf("%s.name: %q is there twice", field, r.Name))
			case !slices.ContainsFunc(kinds, func(k Kind) bool { return k.Type() == kind.Type() }):
				kinds = append(kinds, kind)
			}
			seen[r.Name] = true
		}
	}
	return kinds, errors.Join(errs...)
}

// kind completes the resource from what is known.
func (r Resource) kind(field string) (Kind, error) {
	gr := schema.ParseGroupResource(r.Name)
	if len(validation.IsDNS1123Label(gr.Resource)) > 0 || gr.Group != "" && len(validation.IsDNS1123Subdomain(gr.Group)) > 0 {
		return Kind{}, fmt.Errorf("%s.name: %q is not a resource; write the plural in lower case and the group, like pods or deployments.apps", field, r.Name)
	}
	if r.Scope != "" && r.Scope != ScopeNamespaced && r.Scope != ScopeCluster {
		return Kind{}, fmt.Errorf("%s.scope: %q is not a scope; write %s or %s", field, r.Scope, ScopeNamespaced, ScopeCluster)
	}
	if r.Version != "" && len(validation.IsDNS1035Label(r.Version)) > 0 {
		return Kind{}, fmt.Errorf("%s.version: %q is not a version; write one like v1 or v1beta1", field, r.Version)
	}
	kind, known := knownKind(r.Name)
	if !known {
		if r.Version == "" {
			return Kind{}, fmt.Errorf("%s.version: missing; %s is not among the kinds that the exporter knows, so the version must be given, like v1", field, r.Name)
		}
		return Kind{Group: gr.Group, Version: r.Version, Resource: gr.Resource, Namespaced: r.Scope != ScopeCluster}, nil
	}
	if scope := scopeOf(kind); r.Scope != "" && r.Scope != scope {
		return Kind{}, fmt.Errorf("%s.scope: %q is wrong for %s; leave it out", field, r.Scope, r.Name)
	}
	if r.Version != "" {
		kind.Version = r.Version
	}
	return kind, nil
}

func scopeOf(k Kind) string {
	if k.Namespaced {
		return ScopeNamespaced
	}
	return ScopeCluster
}
