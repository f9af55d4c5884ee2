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

// How the objects of a resource are spread over the shards, as the log says it.
const (
	byUID       = "shardSelector"
	byNamespace = "namespaces"
	notSplit    = "none"
)

// splits decides what of a resource a shard watches. Only the goroutine of a follower uses it.
type splitter struct {
	shard  sharding.Shard
	client metadata.Interface
	log    *slog.Logger

	// selecting tells, by Type, whether the API server selects the objects of a shard, as it last showed. asked are the
	// resources of which it was asked in this round, nil before the first; silent tells that an answer did not come in time,
	// so that it is not asked about the others, which would hold up everything.
	selecting, asked map[string]bool
	silent           bool
	strategies       map[string]string // logged
	auxiliaries      auxiliaries
	wanted           map[kinds.Kind]bool // the lookouts that are needed
	waiting          bool                // something cannot be decided before they know more
}

// ask lets subjects ask the API server again.
func (p *splitter) ask() { p.asked, p.silent = map[string]bool{}, false }

// begin makes ready for deciding about all kinds again.
func (p *splitter) begin() { p.wanted, p.waiting = map[kinds.Kind]bool{}, false }

// end starts and ends lookouts, as what was decided since begin needs them.
func (p *splitter) end(ctx context.Context, changed func(kinds.Kind) func()) {
	p.auxiliaries.update(p.wanted, func(kind kinds.Kind) *informers.Auxiliary {
		log := p.log
		if kind != kinds.Namespaces {
			log = slog.New(slog.DiscardHandler) // the shard that reports about the kind says that it cannot be watched
		}
		l, err := informers.StartAuxiliary(ctx, kind, p.client, changed(kind), log)
		if err != nil {
			p.log.Error("An informer cannot be made", "err", err)
		}
		return l
	})
}

// subjects returns what this shard watches of a kind. before is what has been watched so far.
func (p *splitter) subjects(ctx context.Context, config config.Config, kind kinds.Kind, before []*informers.Informer) []informers.Spec {
	subjects := p.own(ctx, config, kind, before)
	if p.shard.Partial() && p.asked != nil && kinds.DefinesKinds(kind) && !slices.Contains(subjects, informers.NewSpec(config, kind, metav1.NamespaceAll)) {
		p.wanted[kind] = true
	}
	return subjects
}

func (p *splitter) own(ctx context.Context, config config.Config, kind kinds.Kind, before []*informers.Informer) []informers.Spec {
	namespaces := config.Scopes(kind)
	if !p.shard.Partial() || !kinds.Matches(config.SplitResources, kind.Type()) {
		return p.hashed(config, kind, namespaces)
	}
	if p.asked == nil {
		p.waiting = true // nothing is asked before the start
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

// hashed returns this shard's of the namespaces of a kind.
func (p *splitter) hashed(config config.Config, kind kinds.Kind, namespaces []string) (subjects []informers.Spec) {
	for _, namespace := range namespaces {
		if p.shard.Owns(kind.Type(), namespace) {
			subjects = append(subjects, informers.NewSpec(config, kind, namespace))
		}
	}
	return subjects
}

// parts returns this shard's part of the objects in all of the namespaces of a kind.
func (p *splitter) parts(config config.Config, kind kinds.Kind, namespaces []string) (subjects []informers.Spec) {
	for _, namespace := range namespaces {
		s := informers.NewSpec(config, kind, namespace)
		s.Shard = p.shard
		subjects = append(subjects, s)
	}
	return subjects
}

// namespaces returns which there are, and false if that is not known yet. If it may not be known, they are all at once.
func (p *splitter) namespaces() ([]string, bool) {
	p.wanted[kinds.Namespaces] = true
	lookout := p.auxiliaries[kinds.Namespaces]
	if lookout.Refused() {
		return []string{metav1.NamespaceAll}, true
	}
	return lookout.Names()
}

// watched returns what has been watched of a kind.
func watched(before []*informers.Informer, kind kinds.Kind) (subjects []informers.Spec) {
	for _, t := range before {
		if t.Kind == kind {
			subjects = append(subjects, t.Spec)
		}
	}
	return subjects
}

// report logs how a resource is spread, when that is another way than before. named is the way that the configuration names.
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
		log.Info("Objects are spread over the shards as splitBy says")
	case way == byUID && known:
		log.Info("Objects are spread over the shards by their UIDs: the API server sends each shard its own")
	case way == byUID:
		log.Info("Objects are spread over the shards by their UIDs: whether the API server sends each shard its own will be seen when there are objects")
	case way == byNamespace:
		log.Info("Objects are spread over the shards by their namespaces: the API server ignores shardSelector, for which it needs the feature gate ShardedListAndWatch")
	case kind.Namespaced:
		log.Warn("Objects cannot be spread over the shards, and one watches all of them: "+cause+", and namespaces may not be watched",
			"fix", "grant list and watch on namespaces")
	default:
		log.Warn("Objects cannot be spread over the shards, and one watches all of them: " + cause + ", and they are in no namespaces")
	}
}

// selects tells whether the API server selects the objects of a shard, and whether that is known. It is asked once a round,
// in one of the namespaces that has objects, and not at all if the configuration names the way.
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

// probe asks for an object, and then for all but this one at the same resourceVersion. A server that ignores selectors
// sends it again. The answer alone would not tell: ListMeta.ShardInfo is not in lists of metadata (1.36).
func (p *splitter) probe(ctx context.Context, s informers.Spec) (selecting, sure bool) {
	resource := p.client.Resource(s.Kind.GVR()).Namespace(s.Namespace)
	options := metav1.ListOptions{Limit: 1, LabelSelector: s.Selector}
	some, err := resource.List(ctx, options)
	if err != nil || len(some.Items) == 0 {
		return false, false
	}
	first := &some.Items[0]
	others, err := sharding.AllBut(first)
	if err != nil {
		return false, false
	}
	options.ResourceVersion, options.ResourceVersionMatch = some.ResourceVersion, metav1.ResourceVersionMatchExact
	options.ShardSelector = others.String()
	rest, err := resource.List(ctx, options)
	switch {
	case apierrors.IsBadRequest(err) || apierrors.IsInvalid(err):
		return false, true
	case err != nil:
		return false, false
	}
	return !slices.ContainsFunc(rest.Items, func(o metav1.PartialObjectMetadata) bool { return o.UID == first.UID }), true
}

// lookouts are those that run, by what they follow.
type auxiliaries map[kinds.Kind]*informers.Auxiliary

// become ends those that are not wanted any more, and starts those that are and do not run. start returns nil if it cannot.
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
