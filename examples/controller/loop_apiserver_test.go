package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestHotLoop covers S9: a Widget with a status that each reconcile changes exceeds the objective of ControllerHotLoop. Widgets that the
// controller writes and leaves alone do not.
func TestHotLoop(t *testing.T) {
	objective := catalog.Objectives.HotLoop
	for _, loops := range []bool{false, true} {
		t.Run(fmt.Sprintf("loop=%v", loops), func(t *testing.T) {
			config, namespace := stacktest.Config(t), stacktest.Namespace(t)
			all := dynamic.NewForConfigOrDie(config)
			defineWidgets(t, all)
			client := all.Resource(widgets).Namespace(namespace)
			r := start(t, config, testOptions(namespace), nil)
			createWidget(t, client, "a", map[string]any{"content": "x", "loop": loops})
			reconciles := func() float64 { return r.sum("controller_reconcile_total") }
			selfCaused := func() float64 { return r.sum("controller_self_caused_reconciles_total", "controller", program) }
			await.True(t, "its own write comes back", func() bool { return selfCaused() > 0 })
			before, own := reconciles(), selfCaused()
			if !loops {
				for i := range 10 {
					last := selfCaused()
					content := fmt.Appendf(nil, `{"spec":{"content":"%d"}}`, i)
					if _, err := client.Patch(t.Context(), "a", types.MergePatchType, content, metav1.PatchOptions{}); err != nil {
						t.Fatal(err)
					}
					await.True(t, "the widget is reconciled again after the status is written", func() bool { return selfCaused() > last })
				}
				if share := (selfCaused() - own) / (reconciles() - before); share > objective.Threshold {
					t.Errorf("a share of %v is self-caused, the objective is %v", share, objective.Threshold)
				}
			} else {
				// await.Timeout is the window of the objective.
				await.True(t, "as many self-caused reconciles as the alert needs", func() bool { return selfCaused()-own >= objective.MinCount })
				if share := (selfCaused() - own) / (reconciles() - before); share < .95 {
					t.Errorf("a share of %v is self-caused", share)
				}
			}
			if err := r.end(); err != nil {
				t.Error(err)
			}
		})
	}
}
