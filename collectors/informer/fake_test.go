package informer_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

var (
	pods         = informer.ID{Resource: "pods"}
	podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// start runs an informer until the test ends or the returned function is called, which waits for the end.
func start(t testing.TB, inf cache.SharedInformer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

var errTest = errors.New("test")
