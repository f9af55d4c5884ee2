// Package discovery keeps the set of informers equal to what the configuration selects from what the API server serves.
package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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
	// discoveryPeriod is how often the API server is asked what it serves when nothing tells that this has changed. Found
	// kinds that were forbidden are tried again then.
	discoveryPeriod = 5 * time.Minute
	// discoveryTimeout is how long an answer may take.
	discoveryTimeout = 30 * time.Second
	// discoveryRetry is how long after a failure the API server is asked again.
	discoveryRetry = 10 * time.Second
	// probeTimeout is how long the API server may take to tell whether a kind may be listed.
	probeTimeout = 5 * time.Second
	// ignoredPeriod is how long after an API server was seen to ignore shardSelector it is not looked at again for that:
	// every freshness check sees it.
	ignoredPeriod = time.Minute
)

// settling is when the API server is asked after a definition has changed: not at once, since many may change together,
// and more than once, since it takes the API server some seconds until it tells of the change.
var rediscoveryDelays = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}

// follower keeps what is watched equal to what the configuration asks for, of what the API server serves.
type Follower struct {
	log       *slog.Logger
	informers *informers.Set
	client    metadata.Interface
	// discover is nil if the API server is not asked: then only kinds are watched that are named and known.
	discover discoverFunc
	Count    discoveryCounter

	changed      chan struct{} // definitions may have changed
	namespaces   chan struct{} // namespaces may have come or gone
	reconfigured chan struct{} // the configuration has changed
	once         sync.Once
	Ready        chan struct{} // closed after the first discovery, whatever came of it, unless namespaces are still to be told

	mu           sync.Mutex
	config       config.Config
	forbidden    map[informers.Spec]bool // found, and not watched because it is forbidden; false if that is to be asked again
	unselectedAt time.Time               // when partIgnored last had an effect

	// Only the goroutine of follow uses these.
	served   *served
	failing  string // what failed the last time, empty if nothing did
	splitter splitter
}

func New(config config.Config, shard sharding.Shard, targets *informers.Set, client metadata.Interface, discover discoverFunc, log *slog.Logger) *Follower {
	f := &Follower{
		log: log, informers: targets, Count: newDiscoveryCounter(), client: client, discover: discover, config: config, forbidden: map[informers.Spec]bool{},
		changed: make(chan struct{}, 1), namespaces: make(chan struct{}, 1), reconfigured: make(chan struct{}, 1), Ready: make(chan struct{}),
		splitter: splitter{shard: shard, client: client, log: log, selecting: map[string]bool{}, strategies: map[string]string{}, auxiliaries: auxiliaries{}},
	}
	if discover == nil {
		f.once.Do(func() { close(f.Ready) })
	}
	return f
}

// definitionsChanged tells that the API server may serve something else now. It does not block.
func (f *Follower) DefinitionsChanged() { notify(f.changed) }

// partIgnored tells that the API server has sent what is another shard's. Another way is then looked for, unless the
// configuration names one. It does not block.
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

// namespacesChanged tells that there may be other namespaces than before, or that they are known now. It does not block.
func (f *Follower) namespacesChanged() { notify(f.namespaces) }

// reconfigure replaces the configuration, which must be valid. It does not wait for the informers.
func (f *Follower) Reconfigure(config config.Config) {
	f.mu.Lock()
	f.config = config
	f.mu.Unlock()
	notify(f.reconfigured)
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it knows already
	}
}

// follow runs until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	defer f.splitter.auxiliaries.update(nil, nil)
	if f.discover == nil {
		next.Stop()
	}
	round := len(rediscoveryDelays) // none is under way
	soon := false                   // the next discovery is the first after a change
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.reconfigured:
			f.retryForbidden()
			f.Apply(ctx)
			if f.served != nil {
				f.attempt() // what was still to be told may not matter any more
			}
		case <-f.namespaces:
			f.Apply(ctx)
			f.attempt()
		case <-f.changed:
			if !soon && f.discover != nil {
				soon, round = true, 0
				next.Reset(rediscoveryDelays[0])
			}
		case <-next.C:
			if round == len(rediscoveryDelays) {
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

// rediscover asks the API server what it serves and watches what the configuration asks for of it. If there is no answer,
// what is watched stays. It returns false then.
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

// attempt takes in that the API server has been asked, unless something is still to be told.
func (f *Follower) attempt() {
	if !f.splitter.waiting {
		f.once.Do(func() { close(f.Ready) })
	}
}

// report logs a discovery when its outcome is another one than the last time, and counts it after that, so that whoever sees
// the count finds the cause in the log.
func (f *Follower) report(s *served, err error) {
	failing, count := "", f.Count.complete
	switch {
	case err != nil:
		failing, count = "everything", f.Count.failed
	case len(s.errs) > 0:
		failing, count = fmt.Sprint(slices.Sorted(maps.Keys(s.failed))), f.Count.partial
	}
	defer count.Inc()
	if failing == f.failing {
		return
	}
	f.failing = failing
	switch {
	case err != nil:
		f.log.Warn("The API server does not tell what it serves; what is watched stays as it is", "err", err)
	case failing != "":
		f.log.Warn("The API server cannot tell what some groups serve; what is watched of them stays as it is", "groups", failing, "errors", fmt.Sprint(s.errs))
	default:
		f.log.Info("The API server tells again what it serves")
	}
}

// apply makes what is watched equal to what the configuration asks for.
func (f *Follower) Apply(ctx context.Context) {
	f.mu.Lock()
	config := f.config
	f.mu.Unlock()
	allowed := map[informers.Spec]bool{} // or not known to be forbidden
	before := f.informers.List()
	for _, t := range before {
		allowed[t.Spec] = t.Availability.Status().Answer != availability.Forbidden
	}
	asking := true // until an answer does not come in time, so that a server that hangs does not hold up everything
	var subjects []informers.Spec
	forbidden := map[informers.Spec]bool{}
	f.splitter.begin()
	for _, c := range choose(config, f.served, informers.Kinds(before)) {
		for _, s := range f.splitter.subjects(ctx, config, c.Kind, before) {
			if c.found && !allowed[s] {
				out, sure := f.leftOut(s)
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
			subjects = append(subjects, s)
		}
	}
	if ctx.Err() != nil {
		return
	}
	f.splitter.end(ctx, func(k kinds.Kind) func() {
		if kinds.DefinesKinds(k) {
			return f.DefinitionsChanged
		}
		return f.namespacesChanged
	})
	f.forbid(forbidden)
	if err := f.informers.Replace(subjects); err != nil {
		f.log.Error("An informer cannot be made", "err", err)
	}
	f.logChange(informers.Kinds(before), informers.Kinds(f.informers.List()))
}

// probe tells whether a kind that was found is forbidden. Only the API server's own answer about the kind counts: sure is
// false if there was none, and inTime as well if it was waited for in vain.
func (f *Follower) probe(ctx context.Context, s informers.Spec) (forbidden, sure, inTime bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := f.client.Resource(s.Kind.GVR()).Namespace(s.Namespace).List(ctx, metav1.ListOptions{Limit: 1, LabelSelector: s.Selector})
	answer := availability.Classify(err)
	// Who cannot say who they are is told nothing about the kind.
	sure = err == nil || answer != "" && answer != availability.Unauthorized
	return answer == availability.Forbidden, sure, ctx.Err() == nil
}

// leftOut tells whether a kind has been left out because it is forbidden, and whether that need not be asked again.
func (f *Follower) leftOut(s informers.Spec) (out, sure bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sure, out = f.forbidden[s]
	return out, sure
}

// retryForbidden lets the next apply ask again about what was forbidden.
func (f *Follower) retryForbidden() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.forbidden {
		f.forbidden[s] = false
	}
}

// forbid takes in what is forbidden now, and logs what was not before.
func (f *Follower) forbid(now map[informers.Spec]bool) {
	f.mu.Lock()
	before := f.forbidden
	f.forbidden = now
	f.mu.Unlock()
	var added []string
	for s := range now {
		if _, known := before[s]; !known {
			added = append(added, s.Name())
		}
	}
	if len(added) > 0 {
		slices.Sort(added)
		f.log.Info("Resources that were found may not be watched and are left out; they are tried again every "+discoveryPeriod.String(),
			"resources", strings.Join(added, ","), "fix", "grant list and watch on them, or add them to excludeResources in the configuration file")
	}
}

// countForbidden returns how many kinds were found and are not watched, somewhere or anywhere.
func (f *Follower) CountForbidden() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := map[kinds.Kind]bool{}
	for s := range f.forbidden {
		kinds[s.Kind] = true
	}
	return len(kinds)
}

// logChange logs which kinds are watched that were not before, and the reverse.
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
		f.log.Info("What is watched has changed", "resources", len(now), "started", strings.Join(added, ","), "stopped", strings.Join(removed, ","))
	}
}
