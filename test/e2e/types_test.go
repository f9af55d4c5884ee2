package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"path"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/generate"
)

// TestFilesDecodeStrictly decodes every generated file into the type of the program that reads it, without unknown fields:
// once with the defaults, once with every setting.
func TestFilesDecodeStrictly(t *testing.T) {
	for name, config := range map[string]generate.Config{"default": generate.DefaultConfig(), "every setting": documentedConfig(t)} {
		files, err := generate.Files(config)
		if err != nil {
			t.Fatal(err)
		}
		decoded := map[string]int{}
		for file, content := range files {
			kinds, err := decodeStrictly(file, content)
			if err != nil {
				t.Errorf("%s: %s: %v", name, file, err)
			}
			for _, kind := range kinds {
				decoded[kind]++
			}
		}
		for _, kind := range []string{"rules", "dashboard", "PrometheusRule", "ServiceMonitor", "PodMonitor", "ConfigMap", "ClusterRole"} {
			if decoded[kind] == 0 {
				t.Errorf("%s: no %s was decoded, but %v", name, kind, decoded)
			}
		}
	}
}

// decodeStrictly returns the kinds of the objects in a file. It has no types for Grafana's provisioning and for the
// grafana-operator: the Go module proxy does not have their modules. amtool reads Alertmanager's configuration, without the
// modules of all receivers, and kube-apiserver the files of audit.
func decodeStrictly(file string, content []byte) ([]string, error) {
	switch dir := path.Dir(file); dir {
	case "prometheus":
		_, errs := rulefmt.Parse(content, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
		return []string{"rules"}, errors.Join(errs...)
	case "grafana/dashboards":
		return []string{"dashboard"}, decodeDashboard(content)
	case "kubernetes":
		var kinds []string
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			kind, err := decodeObject(document)
			if err != nil {
				return nil, err
			}
			kinds = append(kinds, kind)
		}
		return kinds, nil
	}
	return nil, nil
}

// decodeDashboard also decodes the options of each kind of panel.
func decodeDashboard(content []byte) error {
	plugins.RegisterDefaultPlugins()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return err
	}
	for _, imported := range []string{"__inputs", "__requires"} { // not in the SDK: only exports have them
		delete(fields, imported)
	}
	content, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	err = new(sdk.Dashboard).UnmarshalJSONStrict(content) //nolint:staticcheck // the classic model is what every Grafana reads
	// The SDK returns a list of errors that is not nil even if it is empty.
	if list, ok := errors.AsType[cog.BuildErrors](err); ok && len(list) == 0 {
		return nil
	}
	return err
}

func decodeObject(document []byte) (kind string, err error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return "", err
	}
	into, ok := map[string]any{
		"monitoring.coreos.com/v1 PrometheusRule":         &monitoring.PrometheusRule{},
		"monitoring.coreos.com/v1 ServiceMonitor":         &monitoring.ServiceMonitor{},
		"monitoring.coreos.com/v1 PodMonitor":             &monitoring.PodMonitor{},
		"rbac.authorization.k8s.io/v1 ClusterRole":        &rbacv1.ClusterRole{},
		"rbac.authorization.k8s.io/v1 ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
		"v1 ConfigMap": &corev1.ConfigMap{},
		"grafana.integreatly.org/v1beta1 GrafanaDashboard": nil,
	}[meta.APIVersion+" "+meta.Kind]
	if !ok {
		return "", errors.New("no type for " + meta.APIVersion + " " + meta.Kind)
	}
	if into == nil {
		return meta.Kind, nil
	}
	return meta.Kind, yaml.UnmarshalStrict(document, into)
}

// An unknown field is an error at any depth.
func TestUnknownFieldsAreSeen(t *testing.T) {
	files, err := generate.Files(generate.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for file, field := range map[string]string{
		"prometheus/rules.yaml":                      "expr:",
		"grafana/dashboards/informers-overview.json": `"gridPos"`,
		"grafana/dashboards/informers-detail.json":   `"showLegend"`,
		"kubernetes/prometheusrule.yaml":             "expr:",
		"kubernetes/servicemonitor.yaml":             "honorLabels:",
		"kubernetes/podmonitor.yaml":                 "honorLabels:",
		"kubernetes/dashboards.yaml":                 "data:",
		"kubernetes/rbac.yaml":                       "verbs:",
	} {
		content := string(files[file])
		bad := strings.Replace(content, field, strings.Replace(field, field[1:3], "zz", 1), 1)
		if bad == content {
			t.Errorf("%s has no %s", file, field)
		}
		if _, err := decodeStrictly(file, []byte(bad)); err == nil {
			t.Errorf("%s: a field that is not called %s is accepted", file, field)
		}
	}
}
