package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Programs that Binary finds or builds.
const (
	EtcdProgram              = "etcd"
	APIServerProgram         = "kube-apiserver"
	ControllerManagerProgram = "kube-controller-manager"
	PrometheusProgram        = "prometheus"
	PromtoolProgram          = "promtool"
	AlertmanagerProgram      = "alertmanager"
	AmtoolProgram            = "amtool"
	JaegerProgram            = "jaeger-all-in-one"
)

// program describes how a server or tool is built. Its version is pinned in the go.mod of its nested module only.
type program struct {
	name    string
	dir     string                        // below tools/servers
	module  string                        // has the version of the program
	pkg     string                        // the main package
	tags    string                        // build tags
	stamp   func(version string) []string // -X definitions, for programs that need them to know their version
	release func(version string) string   // version that the program reports, if not the module's
	onTwo   time.Duration                 // build time without a cache on two cores, for progress messages
}

var programs = []program{
	{
		name: EtcdProgram, dir: "etcd", onTwo: time.Minute,
		module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3",
	},
	{
		name: APIServerProgram, dir: "kubernetes", onTwo: 4 * time.Minute,
		module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-apiserver", stamp: stampKubernetes,
	},
	{
		name: ControllerManagerProgram, dir: "kubernetes", onTwo: time.Minute,
		module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", stamp: stampKubernetes,
	},
	{
		name: PrometheusProgram, dir: "prometheus", onTwo: 2 * time.Minute, release: prometheusRelease,
		module: "github.com/prometheus/prometheus", pkg: "github.com/prometheus/prometheus/cmd/prometheus",
		// Static targets are not a plugin and remain. The other discovery plugins double the build time.
		tags: "remove_all_sd", stamp: stampPrometheus,
	},
	{
		name: PromtoolProgram, dir: "prometheus", onTwo: time.Minute, release: prometheusRelease,
		module: "github.com/prometheus/prometheus", pkg: "github.com/prometheus/prometheus/cmd/promtool",
		tags: "remove_all_sd", stamp: stampPrometheus,
	},
	{
		name: AlertmanagerProgram, dir: "alertmanager", onTwo: time.Minute,
		module: "github.com/prometheus/alertmanager", pkg: "github.com/prometheus/alertmanager/cmd/alertmanager",
		stamp: stampCommon,
	},
	{
		name: AmtoolProgram, dir: "amtool", onTwo: time.Minute,
		module: "github.com/prometheus/alertmanager", pkg: "github.com/prometheus/alertmanager/cmd/amtool",
		stamp: stampCommon,
	},
	{
		// The last version with a module on the Go module proxy; its OTLP receiver is that of the OpenTelemetry Collector.
		name: JaegerProgram, dir: "jaeger", onTwo: 3 * time.Minute,
		module: "github.com/jaegertracing/jaeger", pkg: "github.com/jaegertracing/jaeger/cmd/all-in-one",
		stamp: func(version string) []string {
			return []string{"github.com/jaegertracing/jaeger/pkg/version.latestVersion=" + version}
		},
	},
}

// Programs returns the names of all programs that Binary knows, servers first.
func Programs() []string {
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.name
	}
	return names
}

// Missing returns the programs that Binary would build, and how long the builds take on two cores if nothing is cached. Lookup
// errors are left to Binary.
func Missing(ctx context.Context, names ...string) (missing []string, onTwo time.Duration) {
	for _, name := range names {
		p, err := programByName(name)
		if err != nil {
			continue
		}
		if path, b, err := p.find(ctx, orSilent(nil)); err == nil && path == "" && !isExecutable(b.target) {
			missing, onTwo = append(missing, name), onTwo+p.onTwo
		}
	}
	return missing, onTwo
}

func programByName(name string) (program, error) {
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
	if i < 0 {
		return program{}, fmt.Errorf("unknown program %q: use one of %s", name, strings.Join(Programs(), ", "))
	}
	return programs[i], nil
}

// reported returns the version that the program prints for a module version, without the v.
func (p program) reported(moduleVersion string) string {
	if p.release != nil {
		moduleVersion = p.release(moduleVersion)
	}
	return strings.TrimPrefix(moduleVersion, "v")
}

// moduleVersion reads the pinned version of the program's module from the go.mod in a directory.
func (p program) moduleVersion(dir string) (string, error) {
	path := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	required := regexp.MustCompile(`(?m)^(?:require )?\s*` + regexp.QuoteMeta(p.module) + ` (v\S+)`).FindSubmatch(content)
	if required == nil {
		return "", fmt.Errorf("%s does not require %s", path, p.module)
	}
	return string(required[1]), nil
}

var minorVersion = regexp.MustCompile(`\bv?(\d+)\.(\d+)\.\d+`)

// sameMinor reports whether the output of `program --version` has the minor version of want ("1.36.3" or "v1.36.3").
func sameMinor(output, want string) bool {
	w := minorVersion.FindStringSubmatch(want)
	got := minorVersion.FindStringSubmatch(output)
	return w != nil && got != nil && w[1] == got[1] && w[2] == got[2]
}

// stampKubernetes sets the version of the Kubernetes servers: otherwise they report v0.0.0-master, and clients that
// depend on the server's version misbehave.
func stampKubernetes(version string) []string {
	var defs []string
	m := minorVersion.FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		defs = append(defs, pkg+".gitVersion="+version, pkg+".gitMajor="+m[1], pkg+".gitMinor="+m[2])
	}
	return defs
}

// prometheusRelease converts the version of Prometheus' module to that of its release: v0.315.0 is v3.15.0.
func prometheusRelease(version string) string {
	var combined int
	var patch string
	if n, err := fmt.Sscanf(version, "v0.%d.%s", &combined, &patch); n != 2 || err != nil || combined < 100 {
		return version
	}
	return fmt.Sprintf("v%d.%d.%s", combined/100, combined%100, patch)
}

func stampPrometheus(version string) []string { return stampCommon(prometheusRelease(version)) }

func stampCommon(version string) []string {
	return []string{"github.com/prometheus/common/version.Version=" + strings.TrimPrefix(version, "v")}
}
