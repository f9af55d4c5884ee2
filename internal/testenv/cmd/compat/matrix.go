package main

// row is a minor version of client-go that the library supports. The README lists the same versions; a test compares them.
type row struct {
	// clientGo is the version of client-go, and of the other modules of Kubernetes, that the row is tested with.
	clientGo string
	// controllerRuntime is the version of controller-runtime that was made for it, and that the row is tested with.
	controllerRuntime string
	// tags leave out tests of what this version of client-go does not have. Only test files have such tags: the library
	// compiles unchanged with all versions.
	tags string
}

// matrix is what is supported, the newest first. It has the minors of client-go that were released within twelve months, and
// their minors of controller-runtime. The last row is what go.mod requires, the first what go.work builds with.
var matrix = []row{
	{clientGo: "v0.37.2", controllerRuntime: "v0.25.2"},
	{clientGo: "v0.36.6", controllerRuntime: "v0.24.1", tags: "clientgo_before_0_37"},
	{clientGo: "v0.35.0", controllerRuntime: "v0.23.3", tags: "clientgo_before_0_37,clientgo_before_0_36"},
}

// kubernetes are the modules of Kubernetes with the version of client-go.
var kubernetes = []string{"api", "apimachinery", "client-go"}

var (
	// public is what users import or install, which is compiled with each version of client-go.
	public = []string{"./alerts/...", "./cmd/...", "./collectors/...", "./dashboards/...", "./examples/...", "./integrations/...", "./tracing/..."}
	// library is what is also tested, with a real API server.
	library = []string{"./collectors/...", "./integrations/...", "./tracing/..."}
)
