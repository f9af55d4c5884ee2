package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// operation is what people do to programs, targets or Prometheus. It is applied to the recording of a healthy cluster.
type operation struct {
	apply func(r recording.Recording, at int) recording.Recording
	// tickets are the names of the tickets that it raises, with the reason.
	tickets map[string]string
}

// operations happen after ten minutes. The operations of the recording itself, such as deploys and drains, go on meanwhile.
var operations = map[string]operation{
	"none": {apply: func(r recording.Recording, _ int) recording.Recording { return r }},
	"Prometheus down for 5 minutes": {apply: func(r recording.Recording, at int) recording.Recording {
		return unscraped(r, at, 5*time.Minute, 0)
	}},
	"Prometheus down for 40 minutes": {apply: func(r recording.Recording, at int) recording.Recording {
		return unscraped(r, at, 5*time.Minute, 35*time.Minute)
	}},
	"Prometheus down for 2 hours": {apply: func(r recording.Recording, at int) recording.Recording {
		return unscraped(r, at, 5*time.Minute, 115*time.Minute)
	}},
	"targets relabeled": {apply: func(r recording.Recording, at int) recording.Recording {
		return relabeled(r, at, everything, func(b *labels.Builder) { b.Set("instance", "other-"+b.Get("instance")) })
	}},
	"a new label for targets": {apply: func(r recording.Recording, at int) recording.Recording {
		return relabeled(r, at, everything, func(b *labels.Builder) { b.Set("node", "a") })
	}},
	"a new cluster label": {apply: func(r recording.Recording, at int) recording.Recording {
		return relabeled(relabeled(r, 0, everything, func(b *labels.Builder) { b.Del("cluster") }), at, everything, func(b *labels.Builder) { b.Set("cluster", "new") })
	}},
	"another cluster label": {apply: func(r recording.Recording, at int) recording.Recording {
		return relabeled(r, at, everything, func(b *labels.Builder) { b.Set("cluster", "new") })
	}},
	"a program uninstalled": {apply: func(r recording.Recording, at int) recording.Recording {
		return expired(ended(r, at, ofWidgets), at)
	}, tickets: map[string]string{"ClusterLeaseExpired": "the Lease of the program is left"}},
	"a program renamed": {apply: func(r recording.Recording, at int) recording.Recording {
		return expired(relabeled(r, at, ofWidgets, func(b *labels.Builder) {
			b.Set("job", "gadgets")
			b.Set("instance", strings.Replace(b.Get("instance"), "widgets", "gadgets", 1))
			if b.Get("name") == "widgets" {
				b.Set("name", "gadgets")
			}
			if b.Get("lock") != "" {
				b.Set("lock", "default/gadgets")
			}
		}), at)
	}, tickets: map[string]string{"ClusterLeaseExpired": "the Lease of the old name is left"}},
	"the leader's scrapes lost": {apply: func(r recording.Recording, at int) recording.Recording {
		leader := func(l labels.Labels) bool { return l.Get("instance") == "widgets-0:8080" }
		up := func(l labels.Labels) bool { return leader(l) && l.Get(model.MetricNameLabel) == "up" }
		r = ended(r, at, func(l labels.Labels) bool { return leader(l) && !up(l) })
		return edited(r, up, func(_ labels.Labels, values []float64) { fill(values[at:], 0) })
	}},
	// These are faults of a single program or of something else than the API server.
	"a webhook down":                   {apply: webhookDown, tickets: map[string]string{"ControllerClientErrors": "the updates of two programs fail"}},
	"a program behind a NetworkPolicy": {apply: cutOff, tickets: map[string]string{"InformerWatchDown": "its watches are down", "InformerSyncLagHigh": "muted by InformerWatchDown", "ControllerClientErrors": "its requests fail"}},
	"a first list of 10,000 objects":   {apply: firstList, tickets: map[string]string{"InformerSyncLagHigh": "its handlers take more than a minute, in which they see no event"}},
}

// TestOperationsAreQuiet evaluates every generated rule during operations, for usual scrape intervals and phases of scrapes: each
// operation at each interval, in one phase; OPERATIONS=all tries two. One process has counted faults days before. Nothing pages,
// and only the tickets of the operation are raised.
func TestOperationsAreQuiet(t *testing.T) {
	t.Parallel()
	healthy := healthyRecording(t)
	const begin, length = 10 * time.Minute, 30 * time.Minute
	all := os.Getenv("OPERATIONS") == "all"
	for n, interval := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute} {
		rules := rulesFor(t, interval)
		phases := int(min(interval/healthy.Interval, 2))
		for phase := range phases {
			for i, name := range slices.Sorted(maps.Keys(operations)) {
				if !all && (i+n)%phases != phase {
					continue
				}
				o := operations[name]
				t.Run(fmt.Sprintf("%s, every %s, phase %s", name, catalog.FormatDuration(interval), time.Duration(phase)*interval/2), func(t *testing.T) {
					t.Parallel()
					r := scrapedEvery(cut(healthy, phase*int(interval/2/healthy.Interval), int(length/healthy.Interval)), interval)
					r = o.apply(withOldFaults(r), int(begin/interval))
					tickets := map[string]bool{}
					for _, a := range firedAlerts(t, r, rules) {
						name := a.labels.Get(model.AlertNameLabel)
						switch severity := a.labels.Get("severity"); {
						case severity == string(catalog.Page):
							t.Errorf("a page: %v", a)
						case severity == string(catalog.Ticket) && o.tickets[name] == "":
							t.Errorf("a ticket without a reason: %v", a)
						}
						tickets[name] = true
					}
					for name := range o.tickets {
						if !tickets[name] {
							t.Errorf("%s is not raised", name)
						}
					}
				})
			}
		}
	}
}
