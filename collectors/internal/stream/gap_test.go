package stream_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The gap after a dead connection begins at the last freshness check that found no missing changes, if nothing arrived since (S14).
func TestGapBeginsAtTheLastFreshnessCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := observertest.New(t)
		obs := core.Of(o)
		c := stream.New(obs, stream.NewMetrics(obs.Metrics.Scope("pods", "*"), "pods", "*"))
		server := fakeapi.NewServer()
		w, err := c.Decorate(server).Watch(metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range w.ResultChan() {
			}
		}()
		defer w.Stop()
		time.Sleep(time.Minute)
		checked := obs.Now()
		c.Fresh(checked)
		time.Sleep(45 * time.Second)
		lost := apierrors.NewGenericServerResponse(http.StatusInternalServerError, "GET", schema.GroupResource{}, "", "", 0, true).ErrStatus
		lost.Details.Causes = []metav1.StatusCause{{Type: "ClientWatchDecoding", Message: "http2: client connection lost"}}
		s := <-server.Streams
		s.Fail(&lost)
		s.Close()
		synctest.Wait()
		if since := c.DownSince(); since != checked {
			t.Errorf("the watch counts as lost %v after the check", time.Duration(since-checked))
		}
	})
}
