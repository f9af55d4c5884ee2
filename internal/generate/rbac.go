package generate

import (
	"bytes"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rbac grants the exporter what its configuration requires: by a ClusterRole and, if it watches individual namespaces, by a Role
// in each of them.
func rbac(c Config) ([]byte, error) {
	r := c.exporter.Rights()
	var documents [][]byte
	add := func(namespace string, rules []rbacv1.PolicyRule) error {
		if len(rules) == 0 {
			return nil
		}
		prefix, metadata := "", object{"name": appName, "labels": map[string]string{"app.kubernetes.io/name": appName}}
		if namespace == "" {
			prefix = "Cluster"
		} else {
			metadata["namespace"] = namespace
		}
		const version = rbacv1.GroupName + "/v1"
		for _, o := range []object{
			{"apiVersion": version, "kind": prefix + "Role", "metadata": metadata, "rules": rules},
			{
				"apiVersion": version, "kind": prefix + "RoleBinding", "metadata": metadata,
				"roleRef":  object{"apiGroup": rbacv1.GroupName, "kind": prefix + "Role", "name": appName},
				"subjects": []object{{"kind": rbacv1.ServiceAccountKind, "name": appName, "namespace": appName}},
			},
		} {
			document, err := yaml.Marshal(o)
			if err != nil {
				return err
			}
			documents = append(documents, document)
		}
		return nil
	}
	if err := add("", r.Cluster); err != nil {
		return nil, err
	}
	for _, namespace := range slices.Sorted(slices.Values(r.Namespaces)) {
		if err := add(namespace, r.Namespaced); err != nil {
			return nil, err
		}
	}
	var head bytes.Buffer
	for _, note := range append([]string{"Permissions that the configuration of the exporter requires: list and watch only."}, r.Notes...) {
		head.WriteString("#\n")
		comment(&head, wrap(note))
	}
	if r.Instead != nil {
		instead, err := yaml.Marshal(r.Instead)
		if err != nil {
			return nil, err
		}
		head.WriteString("#\n# Rules that grant less, for all built-in resources. Add the groups of your custom resources:\n#\n")
		comment(&head, string(instead))
	}
	return marked(slices.Concat(head.Bytes(), bytes.Join(documents, []byte("---\n"))), nil)
}

func comment(b *bytes.Buffer, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("# " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// wrap breaks a text into lines that fit on a screen.
func wrap(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width == 0:
		case width+len(word) > 116:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}
