package generate_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/generate"
)

// role is a Role or ClusterRole, or a binding of one.
type role struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule `json:"rules"`
	RoleRef           rbacv1.RoleRef      `json:"roleRef"`
	Subjects          []rbacv1.Subject    `json:"subjects"`
}

// rbac returns the RBAC manifest for a configuration of the exporter: its text, and its grants such as "ClusterRole: pods"
// or "Role shop: *.apps".
func rbac(t *testing.T, file string) (text string, granted []string) {
	t.Helper()
	e, err := config.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	f, err := generate.Files(generate.DefaultConfig().ForExporter(e))
	if err != nil {
		t.Fatal(err)
	}
	raw := f["kubernetes/rbac.yaml"]
	var last role
	for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		var r role
		if err := yaml.UnmarshalStrict(document, &r); err != nil {
			t.Fatal(err)
		}
		if r.RoleRef.Name != "" {
			if r.RoleRef.Kind != last.Kind || r.RoleRef.Name != last.Name || r.Kind != last.Kind+"Binding" || r.Namespace != last.Namespace ||
				len(r.Subjects) != 1 || r.Subjects[0].Kind != "ServiceAccount" || r.Subjects[0].Name != "informer-exporter" {
				t.Errorf("%+v does not bind %+v", r, last)
			}
			continue
		}
		last = r
		for _, rule := range r.Rules {
			if !slices.Equal(rule.Verbs, []string{"list", "watch"}) || len(rule.APIGroups) != 1 {
				t.Errorf("rule %+v", rule)
			}
			for _, resource := range rule.Resources {
				granted = append(granted, strings.TrimSuffix(strings.TrimSpace(r.Kind+" "+r.Namespace)+": "+resource+"."+rule.APIGroups[0], "."))
			}
		}
	}
	return string(raw), granted
}

func TestRBAC(t *testing.T) {
	for _, tc := range []struct {
		name, config string
		want         []string
		notes        []string
	}{
		{"names", "resources: [pods, deployments.apps, widgets.example.com]", []string{"ClusterRole: pods", "ClusterRole: deployments.apps", "ClusterRole: widgets.example.com"}, nil},
		{"secrets if asked", "resources: [pods, secrets]", []string{"ClusterRole: pods", "ClusterRole: secrets"}, nil},
		{
			"namespaces", "namespaces: [shop, pay]\nresources: [nodes, pods, {name: planets.example.com, scope: Cluster}, widgets.example.com]",
			[]string{
				"ClusterRole: nodes", "ClusterRole: planets.example.com", "Role pay: pods", "Role pay: widgets.example.com",
				"Role shop: pods", "Role shop: widgets.example.com",
			}, nil,
		},
		{"a group", `resources: ["*.example.com", widgets.example.com]`, []string{"ClusterRole: *.example.com"}, []string{"add groups below it by"}},
		{"a resource of any group", `resources: [ingresses.*]`, []string{"ClusterRole: ingresses.*"}, nil},
		{"what cannot be granted", `resources: [pods, "config*"]`, []string{"ClusterRole: pods"}, []string{"The pattern config* cannot be granted"}},
		{"objects that are spread by namespaces", "resources: [pods]\nsplitResources: [pods]", []string{"ClusterRole: namespaces", "ClusterRole: pods"}, nil},
		{"exclusions", `resources: [pods, nodes, "*.apps"]` + "\nexcludeResources: [nodes, '*.apps']", []string{"ClusterRole: pods"}, nil},
		{"everything", `resources: ["*", pods]`, []string{"ClusterRole: *.*"}, []string{"including the contents of Secrets", "#   - configmaps\n", "#   - clusterroles\n"}},
		{"everything in a namespace", `{resources: ["*"], namespaces: [shop]}`, []string{"Role shop: *.*"}, []string{"contents of Secrets", "#   - configmaps\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text, granted := rbac(t, tc.config)
			if !slices.Equal(granted, tc.want) {
				t.Errorf("granted %q, want %q", granted, tc.want)
			}
			plain := strings.ReplaceAll(text, "\n# ", " ")
			for _, note := range tc.notes {
				if !strings.Contains(plain, note) && !strings.Contains(text, note) {
					t.Errorf("no note %q in\n%s", note, text)
				}
			}
			if tc.notes == nil && strings.Count(text, "#") > 4 {
				t.Errorf("unexpected notes:\n%s", text)
			}
			if strings.Contains(text, "#   - secrets") || strings.Contains(text, "#   - events") {
				t.Errorf("the rules that grant less include secrets or events:\n%s", text)
			}
		})
	}
	text, granted := rbac(t, "")
	if len(granted) != len(kinds.Default()) || !strings.Contains(text, "Custom resources are only watched if RBAC grants list and watch") {
		t.Errorf("by default: %d grants\n%s", len(granted), text)
	}
	if text, _ := rbac(t, "customResources: false"); strings.Contains(text, "Custom resources") {
		t.Errorf("an unwanted note about custom resources:\n%s", text)
	}
}
