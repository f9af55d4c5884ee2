package informers

import (
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// An auxiliary informer has the names of all objects once it has synced. It reports a change on its first sync, its first refusal
// and each later event.
func TestAuxiliary(t *testing.T) {
	var none *Auxiliary
	if _, known := none.Names(); known || none.Refused() {
		t.Error("without an informer there is an answer")
	}
	synctest.Test(t, func(t *testing.T) {
		client := exportertest.MetadataClient(t)
		pods, secrets := kinds.Kind{Version: "v1", Resource: "pods", Namespaced: true}, kinds.Kind{Version: "v1", Resource: "secrets", Namespaced: true}
		start := func(kind kinds.Kind) (*Auxiliary, *atomic.Int64) {
			changes := new(atomic.Int64)
			a, err := StartAuxiliary(t.Context(), kind, client, func() { changes.Add(1) }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			return a, changes
		}
		synced, syncedChanges := start(pods)
		defer synced.Stop()
		refused, refusedChanges := start(secrets)
		defer refused.Stop()
		time.Sleep(time.Second)
		names := []string{"shop/unmistakable-a", "shop/unmistakable-b"}
		if got, known := synced.Names(); !known || !slices.Equal(got, names) || synced.Refused() || syncedChanges.Load() != 1 {
			t.Errorf("names %q, known %t, refused %t, %d changes; want %q and one change", got, known, synced.Refused(), syncedChanges.Load(), names)
		}
		if _, known := refused.Names(); known || !refused.Refused() || refusedChanges.Load() != 1 {
			t.Errorf("without permission: known %t, refused %t, %d changes; want one", known, refused.Refused(), refusedChanges.Load())
		}
		if err := client.Tracker().Create(pods.GVR(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "new"}}, "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, _ := synced.Names(); len(got) != 3 || got[0] != "a/new" || syncedChanges.Load() != 2 {
			t.Errorf("names %q after %d changes", got, syncedChanges.Load())
		}
	})
}
