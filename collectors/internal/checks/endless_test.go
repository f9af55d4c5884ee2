package checks_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// endless lists without an end. It counts the requests that are in progress.
type endless struct {
	slowPages
	running, most *atomic.Int64
}

func (e *endless) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	n := e.running.Add(1)
	defer e.running.Add(-1)
	for most := e.most.Load(); most < n && !e.most.CompareAndSwap(most, n); most = e.most.Load() {
	}
	return e.slowPages.ListWithContext(ctx, options)
}

// Endless lists do not stop the audits of others, however many there are: each delays them by a minute. Their own audits fail, and
// at most eleven run at a time (S11).
func TestEndlessListsBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval, several = 10 * time.Minute, 15
		obs, _ := observertest.New(t)
		shared := checks.NewShared()
		var running, most atomic.Int64
		var hostile []*checks.Checks
		for n := range several {
			lister := &endless{slowPages{begun: make(chan time.Time, 1)}, &running, &most}
			hostile = append(hostile, startAudits(t, core.Of(obs), shared, fmt.Sprint("endless-", n), interval, lister))
		}
		good := startAudits(t, core.Of(obs), shared, "good", interval, &countedPages{})
		last := time.Now()
		for begun := time.Now(); time.Since(begun) < 3*time.Hour; time.Sleep(time.Minute) {
			synctest.Wait()
			if s := good.AuditStatus(); s.Result == checks.AuditConsistent {
				last = s.At
			}
			if age := time.Since(last); age > interval+interval/10+(several+1)*time.Minute {
				t.Fatalf("no audit of the other informer for %v", age)
			}
		}
		for n, c := range hostile {
			if s := c.AuditStatus(); s.Result != checks.AuditError {
				t.Errorf("endless list %d: %q", n, s.Result)
			}
		}
		if n := most.Load(); n < 2 || n > 11 {
			t.Errorf("%d endless audits at a time", n)
		}
	})
}
