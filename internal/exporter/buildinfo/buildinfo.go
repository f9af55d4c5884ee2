// Package buildinfo holds the name and the version of the program.
package buildinfo

import (
	"fmt"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Name is the name of the program, in the label "name" and in the user agent.
const Name = "informer-exporter"

// Version returns the version set by the linker, or else the module version.
func Version() string {
	if version.Version != "" {
		return version.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// Print returns what Prometheus programs print for --version, but without the user and the date of the build, which would differ
// between two builds of one commit.
func Print() string {
	return fmt.Sprintf("%s, version %s (branch: %s, revision: %s)\n  go version:       %s\n  platform:         %s/%s\n  tags:             %s",
		Name, Version(), version.Branch, version.GetRevision(), version.GoVersion, version.GoOS, version.GoArch, version.GetTags())
}

// NewCollector returns a collector of informer_exporter_build_info.
func NewCollector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: catalog.ExporterBuildInfo.Name,
		Help: catalog.ExporterBuildInfo.Help,
		ConstLabels: prometheus.Labels{
			"version":   Version(),
			"revision":  version.GetRevision(),
			"branch":    version.Branch,
			"goversion": version.GoVersion,
			"goos":      version.GoOS,
			"goarch":    version.GoArch,
			"tags":      version.GetTags(),
		},
	}, func() float64 { return 1 })
}
