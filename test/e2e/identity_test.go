package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestExporterAsItsServiceAccount runs the exporter with the permissions of the manifests: it watches every default
// resource. Configured with Secrets, it reports that they are forbidden, and continues with the rest
// (O5).
func TestExporterAsItsServiceAccount(t *testing.T) {
	c := theChain(t)
	applyBase(t, c.ControlPlane.Config())
	account := stacktest.GetAccount(t, c.ControlPlane, manifestNamespace, "informer-exporter")
	dir, kubeconfig := t.TempDir(), stacktest.Kubeconfig(t, account.Config)
	for _, run := range []struct {
		name, config string
		denied       []string
	}{
		{"default", "", nil},
		{"secrets", "extraResources: [{name: secrets}]", []string{"secrets"}},
	} {
		t.Run(run.name, func(t *testing.T) {
			file := filepath.Join(dir, run.name+".yaml")
			if err := os.WriteFile(file, []byte(run.config), 0o600); err != nil {
				t.Fatal(err)
			}
			url := startExporter(t, c.Exporter.Program(), "--kubeconfig="+kubeconfig, "--config.file="+file)
			awaitValues(t, url, "informer_exporter_kind_up", "1", defaultKinds())
			awaitValues(t, url, "informer_exporter_kind_up", "0", run.denied)
			awaitValues(t, url, "k8s_informer_synced", "1", defaultKinds())
			awaitValues(t, url, "k8s_informer_watch_connected", "1", defaultKinds())
		})
	}
}

// startExporter runs the chain's build of the exporter until the end of the test, and returns its address.
func startExporter(t *testing.T, program string, args ...string) string {
	t.Helper()
	address := port.Address(port.Free())
	url := "http://" + address
	server, err := stack.StartCommand(t.Context(), stack.Command{
		Name: "exporter", Program: program, Dir: t.TempDir(), Ready: stack.Answers(url + "/livez"),
		Args: append([]string{"serve", "--web.listen-address=" + address}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(server.LogTail())
		}
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return url
}

// awaitValues waits until a metric has a value for exactly these resources.
func awaitValues(t *testing.T, url, metric, value string, want []string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + metric + `\{(?:.*,)?informer_type="([^"]+)"[^}]*\} ` + value + `$`)
	await.Within(t, patience, metric+" "+value, func(context.Context) error {
		var got []string
		for _, found := range line.FindAllStringSubmatch(fetch(t, url+"/metrics"), -1) {
			got = append(got, found[1])
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("of %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))
		}
		return nil
	})
}
