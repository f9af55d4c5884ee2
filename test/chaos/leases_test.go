package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const renewPeriod = 500 * time.Millisecond

// holder holds a Lease, with its own clock.
type holder struct {
	renew   func(context.Context)
	cancel  context.CancelFunc
	holding sync.WaitGroup
}

// hold creates a Lease with a duration, and renews it. skew is how much the holder's clock is ahead.
func (p *plane) hold(t *testing.T, namespace, name string, lasting, skew time.Duration) *holder {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(p.Config()).CoordinationV1().Leases(namespace)
	now := func() *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(time.Now().Add(skew))) }
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("holder"), LeaseDurationSeconds: ptr.To(int32(lasting.Seconds())), RenewTime: now(),
	}}
	if _, err := client.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h := &holder{renew: func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		renewal, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": now()}})
		if err != nil {
			panic(err) // cannot fail for a time
		}
		// A renewal may fail. Like any holder, this one retries.
		_, _ = client.Patch(ctx, name, types.MergePatchType, renewal, metav1.PatchOptions{})
	}}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *holder) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.holding.Go(func() {
		tick := time.NewTicker(renewPeriod)
		defer tick.Stop()
		for ctx.Err() == nil {
			h.renew(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
}

func (h *holder) stop() { h.cancel(); h.holding.Wait() }

// The clocks of holders are wrong by an hour. The exporter uses only the times, by its own clock, at which their Leases
// change: a Lease that is renewed is held, and one that is not renewed expires.
func TestLeaseHolderClockSkewed(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	const lasting = 30 * time.Second // long enough for a slow machine, short enough to wait for its end
	ahead, behind := plane.hold(t, namespace, "ahead", lasting, time.Hour), plane.hold(t, namespace, "behind", lasting, -time.Hour)
	p := start(t, stacktest.Kubeconfig(t, plane.Config()), plane.Config(), watching(namespace, leases))
	p.shows("lease_renewed_timestamp_seconds > 0")
	before := p.figures()
	begin := p.mark()
	p.shows("lease_renewed_timestamp_seconds grows", "lease_expired 0", "lease_holder_info 1")
	p.until("renewals have the exporter's own time", func(now look) error {
		for key, s := range now {
			if s.name != "k8s_lease_renewed_timestamp_seconds" {
				continue
			}
			if age := float64(time.Now().Unix()) - s.value; age < -1 || age > 60 || s.value < begin[key].value {
				return fmt.Errorf("%s was renewed %v s ago", key, age)
			}
		}
		return nil
	})
	p.keeps("lease_expired 0")

	ahead.stop()
	p.mark()
	p.shows(`lease_expired{lease="ahead"} 1`, `lease_expired{lease="behind"} 0`, `lease_renewed_timestamp_seconds{lease="behind"} grows`)
	p.keeps(`lease_expired{lease="ahead"} 1`, `lease_renewed_timestamp_seconds{lease="ahead"} stays`)
	behind.stop()
	p.shows("lease_expired 1")

	ahead.start()
	behind.start()
	p.mark()
	p.shows("lease_expired 0", "lease_renewed_timestamp_seconds grows")
	p.well()
	p.bounded(before)
}
