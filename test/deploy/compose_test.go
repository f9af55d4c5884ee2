package deploy_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// Compose's own loader accepts the file, every file that a service mounts exists, and every port is local.
func TestCompose(t *testing.T) {
	dir := filepath.Join(root, "deploy/compose")
	load := func(env ...string) (*types.Project, error) {
		options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")}, cli.WithEnv(env), cli.WithResolvedPaths(true))
		if err != nil {
			return nil, err
		}
		return options.LoadProject(t.Context())
	}
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "KUBECONFIG") {
		t.Errorf("without a kubeconfig: %v", err)
	}
	project, err := load("KUBECONFIG=" + filepath.Join(dir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range project.Services {
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				if _, err := os.Stat(volume.Source); err != nil || !volume.ReadOnly {
					t.Errorf("%s mounts %s, read-only %t: %v", service.Name, volume.Source, volume.ReadOnly, err)
				}
			}
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s listens on %q", service.Name, port.HostIP)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy/kustomize/base/deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if image := project.Services["exporter"].Image; !strings.Contains(string(text), "image: "+image+"\n") {
		t.Errorf("the manifests do not use %s", image)
	}

	// The data sources are the generated ones, with Tempo for the traces.
	sources := func(path string) []map[string]any {
		var file struct{ Datasources []map[string]any }
		text, err := os.ReadFile(filepath.Join(root, "deploy", path))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &file); err != nil || len(file.Datasources) != 2 {
			t.Fatalf("%d data sources, %v", len(file.Datasources), err)
		}
		return file.Datasources
	}
	got, want := sources("compose/datasources.yaml"), sources("grafana/provisioning/datasources/prometheus.yaml")
	want[1]["type"], want[1]["url"] = "tempo", "http://tempo:3200"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the data sources are %v, want %v", got, want)
	}
}
