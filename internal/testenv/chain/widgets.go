package chain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// defineWidgets creates the CustomResourceDefinition of the demo controller and waits until the API server serves it.
func (c *Chain) defineWidgets(ctx context.Context, _ programs) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(root, "examples", "controller", "widgets.yaml"))
	if err != nil {
		return err
	}
	var definition unstructured.Unstructured
	if err := yaml.Unmarshal(content, &definition.Object); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(c.ControlPlane.Config())
	if err != nil {
		return err
	}
	if _, err := client.Resource(stack.Definitions).Create(ctx, &definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(load.Widgets).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// badWidgets creates Widgets with a faulty spec, and returns the function that removes them.
func badWidgets(number int, spec map[string]any, deleted bool) injection {
	return func(ctx context.Context, c *Chain) (end, error) {
		all, err := dynamic.NewForConfig(c.ControlPlane.Config())
		if err != nil {
			return nil, err
		}
		client := all.Resource(load.Widgets).Namespace("default")
		var names []string
		restore := func(ctx context.Context) error {
			for _, name := range names {
				_, unstuck := client.Patch(ctx, name, types.MergePatchType, noFinalizers, metav1.PatchOptions{})
				deleted := client.Delete(ctx, name, metav1.DeleteOptions{})
				if err := errors.Join(unlessNotFound(unstuck), unlessNotFound(deleted)); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range number {
			name := fmt.Sprintf("bad-%d-%d", time.Now().UnixMilli(), i)
			w := load.Widget(name, spec)
			if deleted { // deleted before the controller sees it, with the controller's finalizer
				w.SetFinalizers([]string{"example.com/config-map"})
			}
			names = append(names, name) // the API server may have created it despite the error
			if _, err := client.Create(ctx, w, metav1.CreateOptions{}); err != nil {
				return restore, err
			}
			if deleted {
				if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
					return restore, err
				}
			}
		}
		return restore, nil
	}
}

// killLeader kills the leading replica, which is restarted.
func killLeader(ctx context.Context, c *Chain) (end, error) {
	leader, _, err := c.Leader(ctx)
	if err != nil {
		return nil, err
	}
	return nothing, leader.Crash()
}

// partitionLeader cuts the leading replica off from the API server.
func partitionLeader(ctx context.Context, c *Chain) (end, error) {
	leader, _, err := c.Leader(ctx)
	if err != nil {
		return nil, err
	}
	leader.Proxy.Cut()
	return func(context.Context) error { return leader.Proxy.Restore() }, nil
}
