package exporter

import (
	"context"
	"log/slog"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
)

// How the objects of a resource are spread over the shards, as the log says it.
const (
	spreadByUID       = "shardSelector"
	spreadByNamespace = "namespaces"
	spreadNot         = "none"
)

// splits decides what of a resource a shard watches. Only the goroutine of a follower uses it.
type splits struct {
	shard  Shard
	client metadata.Interface
	log    *slog.Logger

	// selecting tells, by Type, whether the API server selects the objects of a shard, as it last showed. asked are the
	// resources of which it was asked in this round, nil before the first; silent tells that an answer did not come in time,
	// so that it is not asked about the others, which would hold up everything.
	selecting, asked map[string]bool
	silent           bool
	ways             map[string]string // logged
	lookouts         lookouts
	wanted           map[Kind]bool // the lookouts that are needed
	waiting          bool          // something cannot be decided before they know more
}

var namespaceKind = Kind{Version: "v1", Resource: "namespaces"}

// ask lets subjects ask the API server again.
func (p *splits) ask() { p.asked, p.silent = map[string]bool{}, false }

// begin makes ready for deciding about all kinds again.
func (p *splits) begin() { p.wanted, p.waiting = map[Kind]bool{}, false }

// end starts and ends lookouts, as what was decided since begin needs them.
func (p *splits) end(ctx context.Context, changed func(Kind) func()) {
	p.lookouts.become(p.wanted, func(kind Kind) *lookout {
		log := p.log
		if kind != namespaceKind {
			log = slog.New(slog.DiscardHandler) // the shard that reports about the kind says that it cannot be watched
		}
		l, err := startLookout(ctx, kind, p.client, changed(kind), log)
		if err != nil {
			p.log.Error("An informer cannot be made", "err", err)
		}
		return l
	})
}

// subjects returns what this shard watches of a kind. before is what has been watched so far.
func (p *splits) subjects(ctx context.Context, config Config, kind Kind, before []*target) []subject {
	subjects := p.own(ctx, config, kind, before)
	if p.shard.partial() && p.asked != nil && definesKinds(kind) && !slices.Contains(subjects, config.subject(kind, metav1.NamespaceAll)) {
		p.wanted[kind] = true
	}
	return subjects
}

func (p *splits) own(ctx context.Context, config Config, kind Kind, before []*target) []subject {
	namespaces := config.scopes(kind)
	if !p.shard.partial() || !matches(config.SplitResources, kind.Type()) {
		return p.hashed(config, kind, namespaces)
	}
	if p.asked == nil {
		p.waiting = true // nothing is asked before the start
		return nil
	}
	selecting, known := p.selects(ctx, config, kind, namespaces)
	if selecting || !known {
		p.report(kind, spreadByUID, known, config.SplitBy)
		return p.parts(config, kind, namespaces)
	}
	if kind.Namespaced && len(config.Namespaces) == 0 {
		if namespaces, known = p.namespaces(); !known {
			p.waiting = true
			return watched(before, kind)
		}
	}
	way := spreadByNamespace
	if slices.Contains(namespaces, metav1.NamespaceAll) {
		way = spreadNot
	}
	p.report(kind, way, true, config.SplitBy)
	return p.hashed(config, kind, namespaces)
}

// hashed returns this shard's of the namespaces of a kind.
func (p *splits) hashed(config Config, kind Kind, namespaces []string) (subjects []subject) {
	for _, namespace := range namespaces {
		if p.shard.owns(kind.Type(), namespace) {
			subjects = append(subjects, config.subject(kind, namespace))
		}
	}
	return subjects
}

// parts returns this shard's part of the objects in all of the namespaces of a kind.
func (p *splits) parts(config Config, kind Kind, namespaces []string) (subjects []subject) {
	for _, namespace := range namespaces {
		s := config.subject(kind, namespace)
		s.part = p.shard
		subjects = append(subjects, s)
	}
	return subjects
}

// namespaces returns which there are, and false if that is not known yet. If it may not be known, they are all at once.
func (p *splits) namespaces() ([]string, bool) {
	p.wanted[namespaceKind] = true
	lookout := p.lookouts[namespaceKind]
	if lookout.refused() {
		return []string{metav1.NamespaceAll}, true
	}
	return lookout.names()
}

// watched returns what has been watched of a kind.
func watched(before []*target, kind Kind) (subjects []subject) {
	for _, t := range before {
		if t.kind == kind {
			subjects = append(subjects, t.subject)
		}
	}
	return subjects
}

// report logs how a resource is spread, when that is another way than before. named is the way that the configuration names.
func (p *splits) report(kind Kind, way string, known bool, named string) {
	name := kind.Type()
	if before := p.ways[name]; before == way {
		return
	}
	p.ways[name] = way
	log := p.log.With("resource", name, "by", way, "shard", p.shard)
	cause := "the API server ignores shardSelector"
	if named != "" {
		cause = "splitBy is " + named
	}
	switch {
	case named != "" && way != spreadNot:
		log.Info("Objects are spread over the shards as splitBy says")
	case way == spreadByUID && known:
		log.Info("Objects are spread over the shards by their UIDs: the API server sends each shard its own")
	case way == spreadByUID:
		log.Info("Objects are spread over the shards by their UIDs: whether the API server sends each shard its own will be seen when there are objects")
	case way == spreadByNamespace:
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
func (p *splits) selects(ctx context.Context, config Config, kind Kind, namespaces []string) (selecting, known bool) {
	if config.SplitBy != "" {
		return config.SplitBy == SplitByUID, true
	}
	name := kind.Type()
	if !p.asked[name] && !p.silent {
		p.asked[name] = true
		asked, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		for _, namespace := range namespaces {
			answer, sure := p.probe(asked, config.subject(kind, namespace))
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
func (p *splits) probe(ctx context.Context, s subject) (selecting, sure bool) {
	resource := p.client.Resource(s.kind.gvr()).Namespace(s.namespace)
	options := metav1.ListOptions{Limit: 1, LabelSelector: s.selector}
	some, err := resource.List(ctx, options)
	if err != nil || len(some.Items) == 0 {
		return false, false
	}
	first := &some.Items[0]
	others, err := allBut(first)
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
