// Command plaininformer runs client-go's metadata informers for the resources that the exporter watches by default in the
// clusters of benchmarks. It does not decorate, trim or serve anything: benchmarks compare the exporter with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/clientcmd"

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

// run prints a line when all informers have synced, and then waits to be terminated.
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
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	for _, r := range resources {
		factory.ForResource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}).Informer()
	}
	factory.Start(ctx.Done())
	for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%s is not synced", resource)
		}
	}
	fmt.Println("informers synced")
	<-ctx.Done()
	return nil
}
