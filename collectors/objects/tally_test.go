package objects

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func tallyOf(groups int) *tally {
	return newTally(prometheus.NewCounter(prometheus.CounterOpts{Name: "overflow_total", Help: "Objects."}), groups, nil)
}

func inGroup(namespace, finalizer int) labels {
	return labels{"pods", fmt.Sprint("ns-", namespace), fmt.Sprint("example.com/", finalizer)}
}

// fastest returns the shortest time of several runs, the one that other programs disturbed least.
func fastest(run func() time.Duration) time.Duration {
	return slices.Min([]time.Duration{run(), run(), run(), run(), run()})
}

// Without room, the cost of an event does not grow with the number of groups that have room.
func TestCostWithoutRoom(t *testing.T) {
	cost := func(limit int) time.Duration {
		return fastest(func() time.Duration {
			tally := tallyOf(limit)
			for i := range limit {
				tally.add(inGroup(i, 0), noon)
			}
			var entries []*entry
			for i := range 2000 {
				entries = append(entries, tally.add(inGroup(i, 1), noon)) // the limit is not reached in the first namespaces
			}
			start := time.Now()
			for i := range 2000 {
				tally.remove(entries[i])
				entries[i] = tally.add(inGroup(i, 2), noon)
			}
			return time.Since(start)
		})
	}
	// A search through the groups with room would take about fifty times as long.
	few, many := cost(300), cost(30_000)
	if many > 25*few {
		t.Errorf("2,000 events take %v with room for 300 groups and %v with room for 30,000", few, many)
	}
}

// A scrape visits all groups, so that those without room are limited to ten times as many.
func TestGroupsWithoutRoomAreLimited(t *testing.T) {
	const limit = 100
	tally := tallyOf(limit)
	var entries []*entry
	for i := range limit + 20_000 {
		entries = append(entries, tally.add(inGroup(i%500, i), noon))
	}
	if n, most := len(tally.groups), 11*limit+1; n > most { // those with room, ten times as many without, and other
		t.Errorf("%d groups, want at most %d", n, most)
	}
	for _, e := range entries {
		tally.remove(e)
	}
	if n := len(tally.groups) + len(tally.share.tenants) + len(tally.share.places) + tally.share.n + tally.share.waits; n != 0 {
		t.Errorf("%+v remains", tally.share)
	}
}

// After any sequence of events, all objects and the oldest are counted, the groups with room are those that a recount finds, and
// no namespace has two groups more than another one with waiting groups.
func TestRandomGroups(t *testing.T) {
	const limit = 12
	random := rand.New(rand.NewPCG(1, 2))
	tally := tallyOf(limit)
	var entries []*entry
	for step := range 6000 {
		if grows := step%2000 < 1200; len(entries) == 0 || random.IntN(10) < 3 == !grows {
			l := inGroup(random.IntN(8), random.IntN(40))
			if random.IntN(20) == 0 {
				l.namespace = "kube-system"
			}
			entries = append(entries, tally.add(l, noon.Add(-time.Duration(random.IntN(5000))*time.Second)))
		} else {
			i := random.IntN(len(entries))
			tally.remove(entries[i])
			entries = slices.Delete(entries, i, i+1)
		}
		want := map[labels]count{}
		for _, e := range entries {
			l := e.value.labels
			if e.value.hidden {
				l = l.other()
			}
			want[l] = count{l, want[l].objects + 1, max(want[l].oldest, noon.Sub(e.at))}
		}
		got := map[labels]count{}
		for _, c := range tally.counts(noon) {
			got[c.labels] = c
		}
		if !maps.Equal(got, want) {
			t.Fatalf("step %d: %v, want %v", step, got, want)
		}
		fair(t, tally)
		if n := tally.share.waits; n > hiddenPerGroup*limit {
			t.Fatalf("step %d: %d groups wait", step, n)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

func fair(t *testing.T, tally *tally) {
	t.Helper()
	chosen, waiting := map[string]int{}, map[string]int{}
	n := 0
	for _, g := range tally.groups {
		switch {
		case g.hidden:
			waiting[g.namespace]++
		case g.shared:
			chosen[g.namespace]++
			n++
		}
	}
	if n != tally.share.n || n > tally.share.limit || n < tally.share.limit && len(waiting) > 0 {
		t.Errorf("%d groups have room, want %d; %d namespaces wait", n, tally.share.n, len(waiting))
	}
	ordinary := maps.Clone(chosen)
	delete(ordinary, "kube-system")
	if waiting["kube-system"] > 0 && len(ordinary) > 0 {
		t.Errorf("kube-system waits: %v", chosen)
	}
	most := slices.Max(append(slices.Collect(maps.Values(ordinary)), 0))
	for namespace := range waiting {
		if namespace != "kube-system" && chosen[namespace]+1 < most {
			t.Errorf("%s waits with %d groups, another namespace has %d", namespace, chosen[namespace], most)
		}
	}
}
