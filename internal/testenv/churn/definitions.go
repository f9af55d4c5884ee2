package churn

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

const (
	group     = "churn.example.com"
	namespace = "churn"
	// lives is how long each version of a definition exists.
	lives = 3 * time.Minute
)

// definition installs a CustomResourceDefinition with objects, upgrades it to another version, and removes it, like an add-on
// that is tried out. The exporter watches its resource.
func (c *Churn) definition(ctx context.Context) (err error) {
	definitions := c.all.Resource(stack.Definitions)
	created, err := definitions.Create(ctx, stack.Definition(group, "Gadget"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { // even after an error, so that the next one can be created
		if ctx.Err() == nil {
			err = errors.Join(err, definitions.Delete(ctx, created.GetName(), metav1.DeleteOptions{}))
		}
	}()
	gadgets := c.all.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}).Namespace(namespace)
	for i := range 5 {
		gadget := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group + "/v1", "kind": "Gadget", "metadata": map[string]any{"name": fmt.Sprint("gadget-", i)},
		}}
		err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := gadgets.Create(ctx, gadget, metav1.CreateOptions{})
			if apierrors.IsNotFound(err) { // not served yet
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	if !sleep(ctx, lives) {
		return nil
	}
	upgraded := stack.Definition(group, "Gadget", stack.Version{Name: "v2"}, stack.Version{Name: "v1"})
	current, err := definitions.Get(ctx, created.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	upgraded.SetResourceVersion(current.GetResourceVersion())
	if _, err := definitions.Update(ctx, upgraded, metav1.UpdateOptions{}); err != nil {
		return err
	}
	sleep(ctx, lives)
	return nil
}

// upgradeWidgets changes the schema of the demo controller's resource, which ends its watches.
func (c *Churn) upgradeWidgets(ctx context.Context) error {
	name := load.Widgets.GroupResource().String()
	change := fmt.Appendf(nil, `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"As of %s."}]`, time.Now().UTC().Format(time.RFC3339))
	_, err := c.all.Resource(stack.Definitions).Patch(ctx, name, types.JSONPatchType, change, metav1.PatchOptions{})
	return err
}
