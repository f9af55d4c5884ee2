package discovery

import (
	"context"
	"log/slog"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// Values of the log attribute by: how the objects of a resource are split between shards.
const (
	byUID       = "shardSelector"
	byNamespace = "namespaces"
	notSplit    = "none"
)

// splitter selects the specs of a shard. It is used by Follower.Apply and Follower.Run only.
type splitter struct {
	shard  sharding.Shard
	client metadata.Interface
	log    *slog.Logger

	// selecting reports, by Type, whether the API server supports shardSelector. asked are the resources probed in this
	// round, or nil before the first round. silent is set after a timeout: no other resources are probed in the round.
	selecting, asked map[string]bool
	silent           bool
	strategies       map[string]string // as logged, by Type
	auxiliaries      auxiliaries
	wanted           map[kinds.Kind]bool // auxiliary informers that are needed
	waiting          bool                // waiting for an auxiliary informer to sync
}

// ask starts a round of probes.
func (p *splitter) ask() { p.asked, p.silent = map[string]bool{}, false }

// begin starts an update of all kinds.
func (p *splitter) begin() { p.wanted, p.waiting = map[kinds.Kind]bool{}, false }

// end starts and stops auxiliary informers, as required since begin.
func (p *splitter) end(ctx context.Context, changed func(kinds.Kind) func()) {
	p.auxiliaries.update(p.wanted, func(kind kinds.Kind) *informers.Auxiliary {
		log := p.log
		if kind != kinds.Namespaces {
			log = slog.New(slog.DiscardHandler) // the shard that watches the kind logs this
		}
		l, err := informers.StartAuxiliary(ctx, kind, p.client, changed(kind), log)
		if err != nil {
			p.log.Error("cannot create an informer", "err", err)
		}
		return l
	})
}

// specs returns the specs of a kind for this shard. before are the current informers.
func (p *splitter) specs(ctx context.Context, config config.Config, kind kinds.Kind, before []*informers.Informer) []informers.Spec {
	specs := p.own(ctx, config, kind, before)
	if p.shard.Partial() && p.asked != nil && kinds.DefinesKinds(kind) && !slices.Contains(specs, informers.NewSpec(config, kind, metav1.NamespaceAll)) {
		p.wanted[kind] = true
	}
	return specs
}

func (p *splitter) own(ctx context.Context, config config.Config, kind kinds.Kind, before []*informers.Informer) []informers.Spec {
	namespaces := config.Scopes(kind)
	if !p.shard.Partial() || !kinds.Matches(config.SplitResources, kind.Type()) {
		return p.hashed(config, kind, namespaces)
	}
	if p.asked == nil {
		p.waiting = true // no requests before the start
		return nil
	}
	selecting, known := p.selects(ctx, config, kind, namespaces)
	if selecting || !known {
		p.report(kind, byUID, known, config.SplitBy)
		return p.parts(config, kind, namespaces)
	}
	if kind.Namespaced && len(config.Namespaces) == 0 {
		if namespaces, known = p.namespaces(); !known {
			p.waiting = true
			return watched(before, kind)
		}
	}
	way := byNamespace
	if slices.Contains(namespaces, metav1.NamespaceAll) {
		way = notSplit
	}
	p.report(kind, way, true, config.SplitBy)
	return p.hashed(config, kind, namespaces)
}

// hashed returns specs for those namespaces that the shard owns.
func (p *splitter) hashed(config config.Config, kind kinds.Kind, namespaces []string) (specs []informers.Spec) {
	for _, namespace := range namespaces {
		if p.shard.Owns(kind.Type(), namespace) {
			specs = append(specs, informers.NewSpec(config, kind, namespace))
		}
	}
	return specs
}

// parts returns specs for the shard's objects in each of the namespaces.
func (p *splitter) parts(config config.Config, kind kinds.Kind, namespaces []string) (specs []informers.Spec) {
	for _, namespace := range namespaces {
		s := informers.NewSpec(config, kind, namespace)
		s.Shard = p.shard
		specs = append(specs, s)
	}
	return specs
}

// namespaces returns all namespaces, or false if they are not known yet. If they may not be listed, it returns NamespaceAll.
func (p *splitter) namespaces() ([]string, bool) {
	p.wanted[kinds.Namespaces] = true
	auxiliary := p.auxiliaries[kinds.Namespaces]
	if auxiliary.Refused() {
		return []string{metav1.NamespaceAll}, true
	}
	return auxiliary.Names()
}

// watched returns the current specs of a kind.
func watched(before []*informers.Informer, kind kinds.Kind) (specs []informers.Spec) {
	for _, t := range before {
		if t.Kind == kind {
			specs = append(specs, t.Spec)
		}
	}
	return specs
}

// report logs how a resource is split, if that has changed. named is splitBy of the configuration.
func (p *splitter) report(kind kinds.Kind, way string, known bool, named string) {
	name := kind.Type()
	if before := p.strategies[name]; before == way {
		return
	}
	p.strategies[name] = way
	log := p.log.With("resource", name, "by", way, "shard", p.shard)
	cause := "the API server ignores shardSelector"
	if named != "" {
		cause = "splitBy is " + named
	}
	switch {
	case named != "" && way != notSplit:
		log.Info("objects are split by the configured splitBy")
	case way == byUID && known:
		log.Info("objects are split by UID; the API server filters them")
	case way == byUID:
		log.Info("objects are split by UID; whether the API server filters them is unknown until the first object")
	case way == byNamespace:
		log.Info("objects are split by namespace; the API server ignores shardSelector (feature gate ShardedListAndWatch)")
	case kind.Namespaced:
		log.Warn("objects cannot be split between shards; one shard watches all of them: "+cause+", and listing namespaces is forbidden",
			"fix", "grant list and watch on namespaces")
	default:
		log.Warn("objects cannot be split between shards; one shard watches all of them: " + cause + ", and they have no namespace")
	}
}

// selects reports whether the API server supports shardSelector for a resource, and whether that is known. It probes at most
// once per round, in the first namespace with objects, and never if the configuration sets splitBy.
func (p *splitter) selects(ctx context.Context, c config.Config, kind kinds.Kind, namespaces []string) (selecting, known bool) {
	if c.SplitBy != "" {
		return c.SplitBy == config.SplitByUID, true
	}
	name := kind.Type()
	if !p.asked[name] && !p.silent {
		p.asked[name] = true
		asked, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		for _, namespace := range namespaces {
			answer, sure := p.probe(asked, informers.NewSpec(c, kind, namespace))
			if sure {
				p.selecting[name] = answer
			}
			if sure || asked.Err() != nil {
				break
			}
		}
		p.silent = asked.Err() != nil
	}
	selecting, known = p.selecting[name]
	return selecting, known
}

// probe lists one object, and then another one at the same resourceVersion with a selector that excludes the first. A server that
// ignores selectors sends the first again. ListMeta.ShardInfo cannot be used: it is missing in lists of metadata (1.36).
func (p *splitter) probe(ctx context.Context, s informers.Spec) (selecting, sure bool) {
	resource := p.client.Resource(s.Kind.GVR()).Namespace(s.Namespace)
	options := metav1.ListOptions{Limit: 1, LabelSelector: s.Selector}
	some, err := resource.List(ctx, options)
	if err != nil || len(some.Items) == 0 {
		return false, false
	}
	first := &some.Items[0]
	options.ResourceVersion, options.ResourceVersionMatch = some.ResourceVersion, metav1.ResourceVersionMatchExact
	sharding.AllBut(first).Select(&options)
	rest, err := resource.List(ctx, options)
	switch {
	case apierrors.IsBadRequest(err) || apierrors.IsInvalid(err):
		return false, true
	case err != nil:
		return false, false
	}
	return !slices.ContainsFunc(rest.Items, func(o metav1.PartialObjectMetadata) bool { return o.UID == first.UID }), true
}

// auxiliaries are the running auxiliary informers by kind.
type auxiliaries map[kinds.Kind]*informers.Auxiliary

// update stops informers that are no longer wanted and starts missing ones. start returns nil on failure.
func (l auxiliaries) update(wanted map[kinds.Kind]bool, start func(kinds.Kind) *informers.Auxiliary) {
	for kind, running := range l {
		if !wanted[kind] {
			running.Stop()
			delete(l, kind)
		}
	}
	for kind := range wanted {
		if l[kind] == nil {
			if started := start(kind); started != nil {
				l[kind] = started
			}
		}
	}
}
