// Command compat compiles and tests the library with each supported version of client-go, its integration with each supported
// version of controller-runtime, and the library and the exporter with each supported version of the API server. `make compat`
// runs it from the root of the repository. It prints tables, and exits with an error if a version fails. It does not change files
// of the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// integration is the module for controller-runtime.
const integration = "integrations/controllerruntime"

func main() {
	only := flag.String("only", "", "test one version of client-go, such as v0.36, or of the API server, such as 1.35")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, only string) error {
	dir, err := os.MkdirTemp("", "compat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tested, failed := 0, 0
	count := func(verdicts ...string) {
		tested++
		for _, v := range verdicts {
			if strings.HasPrefix(v, "failed") {
				failed++
			}
		}
	}
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "client-go\tlibrary\tcontroller-runtime\tintegration")
	for _, r := range matrix {
		if !strings.HasPrefix(r.clientGo, only) {
			continue
		}
		own := verdict(ctx, r.testLibrary, filepath.Join(dir, r.clientGo+".mod"))
		integrated := verdict(ctx, r.testIntegration, filepath.Join(dir, r.controllerRuntime+".mod"))
		count(own, integrated)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.clientGo, own, r.controllerRuntime, integrated)
	}
	fmt.Fprintln(table, "\t\t\t\nAPI server\tlibrary and exporter\t\t")
	for _, minor := range servers {
		if !strings.HasPrefix(minor, only) {
			continue
		}
		v := verdict(ctx, testServer, minor)
		count(v)
		fmt.Fprintf(table, "%s\t%s\t\t\n", minor, v)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if tested == 0 {
		return fmt.Errorf("--only: %s is not a supported version of client-go or of the API server", only)
	}
	if failed > 0 {
		return fmt.Errorf("%d combinations failed", failed)
	}
	return nil
}

// verdict runs a test with a go.mod or a version of the API server, and returns its result for the table.
func verdict(ctx context.Context, test func(context.Context, string) error, version string) string {
	started := time.Now()
	err := test(ctx, version)
	elapsed := time.Since(started).Round(time.Second)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(version), err)
		return fmt.Sprintf("failed (%s)", elapsed)
	}
	return fmt.Sprintf("ok (%s)", elapsed)
}

// testLibrary compiles the packages that users import or install, and tests the library with the row's version of client-go.
func (r row) testLibrary(ctx context.Context, modfile string) error {
	m := module{dir: ".", modfile: modfile}
	if err := m.require(ctx, r.kubernetes()); err != nil {
		return err
	}
	if err := m.run(ctx, "build", public...); err != nil {
		return err
	}
	return m.run(ctx, "test", append([]string{"-count=1", "-timeout=20m", "-tags=" + r.tags}, library...)...)
}

// testIntegration compiles and tests the integration with the row's version of controller-runtime.
func (r row) testIntegration(ctx context.Context, modfile string) error {
	m := module{dir: integration, modfile: modfile}
	if err := m.require(ctx, append(r.kubernetes(), "sigs.k8s.io/controller-runtime@"+r.controllerRuntime)); err != nil {
		return err
	}
	return m.run(ctx, "test", "-count=1", "-timeout=20m", "-tags="+r.tags, "./...")
}

func (r row) kubernetes() []string {
	var modules []string
	for _, name := range kubernetes {
		modules = append(modules, "k8s.io/"+name+"@"+r.clientGo)
	}
	return modules
}

// module is a module of the repository, with the path of a separate go.mod for the test.
type module struct{ dir, modfile string }

// require writes a copy of the module's go.mod and go.sum, and requires the given versions in it.
func (m module) require(ctx context.Context, versions []string) error {
	for from, to := range map[string]string{"go.mod": m.modfile, "go.sum": strings.TrimSuffix(m.modfile, ".mod") + ".sum"} {
		content, err := os.ReadFile(filepath.Join(m.dir, from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return err
		}
	}
	args := []string{"mod", "edit"}
	for _, v := range versions {
		args = append(args, "-require="+v)
	}
	return m.goTool(ctx, append(args, m.modfile)...)
}

// run runs a command of the go tool with the module's separate go.mod.
func (m module) run(ctx context.Context, command string, args ...string) error {
	return m.goTool(ctx, append([]string{command, "-modfile=" + m.modfile, "-mod=mod"}, args...)...)
}

func (m module) goTool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
