// Package discovery finds the resources that the API server serves, and runs informers for those that the configuration selects.
package discovery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

const (
	// discoveryPeriod is the interval of discoveries if nothing signals a change, and the least between probes of forbidden kinds that
	// the configuration does not name.
	discoveryPeriod = 5 * time.Minute
	// discoveryTimeout is the timeout of a discovery.
	discoveryTimeout = 30 * time.Second
	// discoveryRetry is the delay after a failed discovery.
	discoveryRetry = 10 * time.Second
	// probeTimeout is the timeout of the request that checks whether a kind may be listed.
	probeTimeout = 5 * time.Second
	// maxKinds is the number of kinds from which custom resources and kinds that only match a pattern are left out: aggregated API
	// servers and CustomResourceDefinitions could cause any number of informers.
	maxKinds = 1000
	// ignoredPeriod is the minimum interval between discoveries that are triggered because the API server ignored
	// shardSelector, which every freshness check detects.
	ignoredPeriod = time.Minute
)

// rediscoveryDelays are the delays of the discoveries after a change of a definition. The first is not immediate, because many
// definitions may change together. Others follow, because discovery lags by seconds, and by more on a busy API server.
var rediscoveryDelays = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second}

// newQuickDiscoveries returns a limiter of discoveries one second after a change: a CustomResourceDefinition that changes constantly
// must not cause a discovery every second.
func newQuickDiscoveries() *rate.Limiter { return rate.NewLimiter(rate.Every(time.Minute), 6) }

// roundAfterChange returns the index of the delay after a change: the first, or the last but one after too many changes. A discovery
// after the last delay finds what that one missed.
func roundAfterChange(quick *rate.Limiter) int {
	if quick.Allow() {
		return 0
	}
	return len(rediscoveryDelays) - 2
}

// Follower keeps the informers consistent with the configuration and the resources that the API server serves.
type Follower struct {
	log       *slog.Logger
	informers *informers.Set
	client    metadata.Interface
	// discover is nil without discovery. Only known and named kinds are watched then.
	discover discoverFunc
	Count    *prometheus.CounterVec // of discoveries

	changed      chan struct{} // definitions may have changed
	limit        int           // of watched kinds: maxKinds, except in tests
	namespaces   chan struct{} // namespaces were added or deleted, or are known now
	reconfigured chan struct{} // the configuration has changed
	once         sync.Once
	Ready        chan struct{} // closed after the first discovery, and once the namespaces are known if they are needed

	forbiddenKinds, overLimit atomic.Int64 // kinds that are not watched because they are forbidden, and because of maxKinds

	mu           sync.Mutex
	config       config.Config
	unselectedAt time.Time // last effect of UnselectedReceived

	// Used by Apply and Run only.
	forbidden map[informers.Spec]bool // found, but not watched because forbidden; false if it must be probed again
	served    *served
	failing   string // what failed in the last discovery, or empty
	splitter  splitter
}

// Options for New.
type Options struct {
	Config config.Config
	Shard  sharding.Shard
	// Informers is the set that follows the cluster.
	Informers *informers.Set
	Client    metadata.Interface
	// Discover requests the resources of the API server; nil without discovery.
	Discover discoverFunc
	Logger   *slog.Logger
}

// New returns a follower of a cluster for one shard.
func New(o Options) *Follower {
	f := &Follower{
		log: o.Logger, informers: o.Informers, limit: maxKinds, Count: newDiscoveries(), client: o.Client, discover: o.Discover, config: o.Config, forbidden: map[informers.Spec]bool{},
		changed: make(chan struct{}, 1), namespaces: make(chan struct{}, 1), reconfigured: make(chan struct{}, 1), Ready: make(chan struct{}),
		splitter: splitter{shard: o.Shard, client: o.Client, log: o.Logger, selecting: map[string]bool{}, strategies: map[string]string{}, auxiliaries: auxiliaries{}},
	}
	if o.Discover == nil {
		f.once.Do(func() { close(f.Ready) })
	}
	return f
}

// DefinitionsChanged triggers discoveries. It does not block.
func (f *Follower) DefinitionsChanged() { notify(f.changed) }

// UnselectedReceived reports that the API server sent objects of another shard. It triggers a discovery, unless the
// configuration sets splitBy. It does not block.
func (f *Follower) UnselectedReceived() {
	f.mu.Lock()
	look := f.config.SplitBy == "" && time.Since(f.unselectedAt) >= ignoredPeriod
	if look {
		f.unselectedAt = time.Now()
	}
	f.mu.Unlock()
	if look {
		f.DefinitionsChanged()
	}
}

// Reconfigure replaces the configuration, which must be valid. It does not wait for the informers.
func (f *Follower) Reconfigure(config config.Config) {
	f.mu.Lock()
	f.config = config
	f.mu.Unlock()
	notify(f.reconfigured)
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // already notified
	}
}

// Run runs until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	defer f.splitter.auxiliaries.update(nil, nil)
	if f.discover == nil {
		next.Stop()
	}
	round := len(rediscoveryDelays) // no rediscovery in progress
	soon := false                   // the next discovery is the first after a change
	quick := newQuickDiscoveries()
	retried := time.Now() // forbidden kinds, also while definitions change all the time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.reconfigured:
			f.retryForbidden()
			f.Apply(ctx)
			if f.served != nil {
				f.attempt() // namespaces may no longer be needed
			}
		case <-f.namespaces:
			f.Apply(ctx)
			f.attempt()
		case <-f.changed:
			if !soon && f.discover != nil {
				soon, round = true, roundAfterChange(quick)
				next.Reset(rediscoveryDelays[round])
			}
		case <-next.C:
			if time.Since(retried) >= discoveryPeriod {
				retried = time.Now()
				f.retryForbidden()
			}
			soon, round = false, min(round+1, len(rediscoveryDelays))
			ok := f.rediscover(ctx)
			switch {
			case !ok:
				next.Reset(wait.Jitter(discoveryRetry, .5))
			case round < len(rediscoveryDelays):
				next.Reset(rediscoveryDelays[round])
			default:
				next.Reset(wait.Jitter(discoveryPeriod, .2))
			}
		}
	}
}

// rediscover runs a discovery and updates the informers. On failure, it returns false and leaves the informers unchanged.
func (f *Follower) rediscover(ctx context.Context) bool {
	asked, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	now, err := f.discover.discover(asked)
	if ctx.Err() != nil {
		return true
	}
	f.report(now, err)
	if err == nil {
		f.served = now
		f.splitter.ask()
		f.Apply(ctx)
	}
	f.attempt()
	return err == nil
}

// attempt closes Ready, unless namespaces are needed and not known yet.
func (f *Follower) attempt() {
	if !f.splitter.waiting {
		f.once.Do(func() { close(f.Ready) })
	}
}

// report counts a discovery. Before that, it logs the result if that has changed, so that the log has the cause when the count
// changes.
func (f *Follower) report(s *served, err error) {
	failing, result := "", complete
	switch {
	case err != nil:
		failing, result = "everything", failed
	case len(s.errs) > 0:
		failing, result = fmt.Sprint(slices.Sorted(maps.Keys(s.failed))), partial
	}
	defer f.Count.WithLabelValues(result).Inc()
	if failing == f.failing {
		return
	}
	f.failing = failing
	switch {
	case err != nil:
		f.log.Warn("discovery failed; informers stay unchanged", "err", err)
	case failing != "":
		f.log.Warn("discovery failed for some groups; their informers stay unchanged", "groups", failing, "errors", fmt.Sprint(s.errs))
	default:
		f.log.Info("discovery succeeded again")
	}
}

// Apply starts and stops informers as the configuration requires. Once Run has been called, only Run may call it.
func (f *Follower) Apply(ctx context.Context) {
	f.mu.Lock()
	config := f.config
	f.mu.Unlock()
	allowed := map[informers.Spec]bool{} // not known to be forbidden
	before := f.informers.List()
	for _, t := range before {
		allowed[t.Spec] = t.Availability.Status().Answer != availability.Forbidden
	}
	asking := true // until a request times out, so that a hanging server delays Apply only once
	var specs []informers.Spec
	forbidden := map[informers.Spec]bool{}
	watched, overLimit := 0, []string(nil)
	f.splitter.begin()
	for _, c := range foundLast(choose(config, f.served, informers.Kinds(before)), before) {
		chosen := f.splitter.specs(ctx, config, c.Kind, before)
		if c.Optional && watched >= f.limit && len(chosen) > 0 {
			overLimit = append(overLimit, c.Type())
			continue
		}
		n := len(specs)
		for _, s := range chosen {
			if c.Optional && !allowed[s] {
				sure, out := f.forbidden[s]
				if !sure && asking {
					var now bool
					if now, sure, asking = f.probe(ctx, s); sure {
						out = now
					}
				}
				if out {
					forbidden[s] = sure
					continue
				}
			}
			specs = append(specs, s)
		}
		if len(specs) > n {
			watched++
		}
	}
	if ctx.Err() != nil {
		return
	}
	f.leaveOut(overLimit)
	f.splitter.end(ctx, func(k kinds.Kind) func() {
		if kinds.DefinesKinds(k) {
			return f.DefinitionsChanged
		}
		return func() { notify(f.namespaces) }
	})
	f.forbid(forbidden)
	if err := f.informers.Replace(specs); err != nil {
		f.log.Error("cannot create an informer", "err", err)
	}
	for _, t := range f.informers.List() {
		if served, known := f.served.hasStatus(t.Kind); known {
			t.SetStatusSubresource(served)
		}
	}
	f.logChange(informers.Kinds(before), informers.Kinds(f.informers.List()))
}

// probe reports whether a found kind is forbidden. If the response does not show that, sure is false; after a timeout,
// inTime is false as well.
func (f *Follower) probe(ctx context.Context, s informers.Spec) (forbidden, sure, inTime bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := f.client.Resource(s.Kind.GVR()).Namespace(s.Namespace).List(ctx, metav1.ListOptions{Limit: 1, LabelSelector: s.Selector})
	answer := availability.Classify(err)
	// A 401 says nothing about the resource.
	sure = err == nil || answer != "" && answer != availability.Unauthorized
	return answer == availability.Forbidden, sure, ctx.Err() == nil
}

// retryForbidden makes the next Apply probe forbidden kinds again.
func (f *Follower) retryForbidden() {
	for s := range f.forbidden {
		f.forbidden[s] = false
	}
}

// forbid replaces the forbidden kinds and logs new ones.
func (f *Follower) forbid(now map[informers.Spec]bool) {
	before := f.forbidden
	f.forbidden = now
	kinds := map[kinds.Kind]bool{}
	var added []string
	for s := range now {
		kinds[s.Kind] = true
		if _, known := before[s]; !known {
			added = append(added, s.Name())
		}
	}
	f.forbiddenKinds.Store(int64(len(kinds)))
	if len(added) > 0 {
		slices.Sort(added)
		f.log.Info("skipping forbidden resources",
			"retry", discoveryPeriod, "resources", strings.Join(added, ","), "fix", "grant list and watch on them, or add them to excludeResources in the configuration file")
	}
}

// foundLast moves kinds that were found and are not watched yet to the end, so that a new kind does not displace others.
func foundLast(choices []Choice, before []*informers.Informer) []Choice {
	known := informers.Kinds(before)
	slices.SortStableFunc(choices, func(a, b Choice) int {
		last := func(c Choice) int {
			if _, watched := known[c.Type()]; c.Optional && !watched {
				return 1
			}
			return 0
		}
		return cmp.Compare(last(a), last(b))
	})
	return choices
}

// leaveOut replaces the kinds that are not watched because of the limit, and logs a change of their number.
func (f *Follower) leaveOut(names []string) {
	if before := f.overLimit.Swap(int64(len(names))); len(names) > 0 && len(names) != int(before) {
		f.log.Warn("too many resources; skipping the rest", "limit", f.limit, "skipped", len(names), "resources", strings.Join(names, ","),
			"fix", "exclude others with excludeResources in the configuration file, name those to watch in extraResources, or divide the resources with --shard")
	}
}

// CountOverLimit returns the number of kinds that are not watched because of the limit.
func (f *Follower) CountOverLimit() int { return int(f.overLimit.Load()) }

// CountForbidden returns the number of kinds that were found but are forbidden in at least one scope.
func (f *Follower) CountForbidden() int { return int(f.forbiddenKinds.Load()) }

// logChange logs kinds that were added or removed.
func (f *Follower) logChange(before, now map[string]kinds.Kind) {
	difference := func(of, without map[string]kinds.Kind) (names []string) {
		for name := range of {
			if of[name] != without[name] {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	added, removed := difference(now, before), difference(before, now)
	if len(added)+len(removed) > 0 {
		f.log.Info("watched resources changed", "resources", len(now), "started", strings.Join(added, ","), "stopped", strings.Join(removed, ","))
	}
}
