package stacktest

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
)

// Proxied returns a proxy in front of the shared API server, and a configuration that connects through it. The proxy
// is closed when the test ends.
func Proxied(t testing.TB) (*faultproxy.Proxy, *rest.Config) {
	t.Helper()
	plane := ControlPlane(t)
	proxy, err := faultproxy.Start(plane.APIServer.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy, proxy.RESTConfig(plane.Config())
}
