package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// dashboardLabel is the label by which the sidecar of Grafana's Helm chart finds ConfigMaps.
const dashboardLabel = "grafana_dashboard"

// resources configures the generated Kubernetes resources, except those for RBAC.
type resources struct {
	// Namespace is the namespace of the resources. Defaults to the namespace of the kubectl context.
	Namespace string `yaml:"namespace,omitempty"`
	// PodNamespaces are the namespaces in which the PodMonitor looks for Pods. Defaults to the namespace of the PodMonitor.
	PodNamespaces []string `yaml:"podNamespaces,omitempty"`
	// Labels are added to all generated resources.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Folder is the folder of the dashboards in Grafana.
	Folder string `yaml:"folder,omitempty"`
	// FolderAnnotation is the annotation by which the sidecar of Grafana's Helm chart finds the folder of a ConfigMap.
	FolderAnnotation string `yaml:"folderAnnotation,omitempty"`
	// InstanceSelector are the labels by which GrafanaDashboards select a Grafana.
	InstanceSelector map[string]string `yaml:"instanceSelector,omitempty"`
}

// defaults returns the configuration with the defaults of empty fields.
func (r resources) defaults() resources {
	if r.Folder == "" {
		r.Folder = "Informers"
	}
	if r.InstanceSelector == nil {
		r.InstanceSelector = map[string]string{"dashboards": "grafana"}
	}
	return r
}

// validate returns the errors of the field kubernetes.
func (r resources) validate() []error {
	var errs []error
	check := func(field, value string, problems []string) {
		if len(problems) > 0 {
			errs = append(errs, fmt.Errorf("kubernetes.%s: %q: %s", field, value, strings.Join(problems, "; ")))
		}
	}
	if r.Namespace != "" {
		check("namespace", r.Namespace, validation.IsDNS1123Label(r.Namespace))
	}
	for _, namespace := range r.PodNamespaces {
		check("podNamespaces", namespace, validation.IsDNS1123Label(namespace))
	}
	if r.FolderAnnotation != "" {
		check("folderAnnotation", r.FolderAnnotation, validation.IsQualifiedName(r.FolderAnnotation))
	}
	for _, field := range []struct {
		name   string
		labels map[string]string
	}{{"labels", r.Labels}, {"instanceSelector", r.InstanceSelector}} {
		for _, key := range slices.Sorted(maps.Keys(field.labels)) {
			check(field.name, key, validation.IsQualifiedName(key))
			check(field.name+"."+key, field.labels[key], validation.IsValidLabelValue(field.labels[key]))
		}
	}
	for _, key := range []string{nameLabel, dashboardLabel} {
		if _, ok := r.Labels[key]; ok {
			errs = append(errs, fmt.Errorf("kubernetes.labels: %q is set by the generator and cannot be changed", key))
		}
	}
	return errs
}

// metadata returns the metadata of a resource with further labels of its own.
func (r resources) metadata(name string, own map[string]string) object {
	labels := map[string]string{nameLabel: appName}
	maps.Copy(labels, r.Labels)
	maps.Copy(labels, own)
	m := object{"name": name, "labels": labels}
	if r.Namespace != "" {
		m["namespace"] = r.Namespace
	}
	return m
}
