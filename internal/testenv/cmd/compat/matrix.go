package main

// row is a minor version of client-go that the library supports. The README lists the same versions; a test compares them.
type row struct {
	// clientGo is the version of client-go, and of the other modules of Kubernetes, that the row is tested with.
	clientGo string
	// controllerRuntime is the version of controller-runtime for this client-go that the row is tested with.
	controllerRuntime string
	// tags exclude tests of features that this version of client-go lacks. Only test files have such tags: the library
	// compiles unchanged with all versions.
	tags string
}

// matrix lists the supported versions, the newest first: the minor versions of client-go that were released within twelve months,
// and the minor versions of controller-runtime for them. go.mod requires the last row; the exporter the first.
var matrix = []row{
	{clientGo: "v0.37.2", controllerRuntime: "v0.25.2"},
	{clientGo: "v0.36.6", controllerRuntime: "v0.24.1", tags: "clientgo_before_0_37"},
	{clientGo: "v0.35.0", controllerRuntime: "v0.23.3", tags: "clientgo_before_0_37,clientgo_before_0_36"},
}

// kubernetes are the modules of Kubernetes with the version of client-go.
var kubernetes = []string{"api", "apimachinery", "client-go"}

var (
	// public lists the packages that users import, which are compiled with each version of client-go.
	public = []string{"./alerts/...", "./collectors/...", "./dashboards/...", "./examples/...", "./integrations/...", "./tracing/..."}
	// library lists the packages that are also tested against a real API server.
	library = []string{"./collectors/...", "./integrations/...", "./tracing/..."}
)
