// Command metadatacache runs controller-runtime's cache with metadata of the resources that the exporter watches by default in the
// clusters of benchmarks. It does not decorate anything: benchmarks compare the exporter with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/watched"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of the cluster")
	flag.Parse()
	if err := run(context.Background(), *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints a line when the cache has synced, and then waits to be terminated.
func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	resources, err := watched.Resources(config)
	if err != nil {
		return err
	}
	c, err := cache.New(config, cache.Options{})
	if err != nil {
		return err
	}
	for _, r := range resources {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
		if _, err := c.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- c.Start(ctx) }()
	if !c.WaitForCacheSync(ctx) {
		return errors.New("the cache is not synced")
	}
	fmt.Fprintln(os.Stdout, "informers synced") // the benchmark waits for it
	return <-stopped
}
