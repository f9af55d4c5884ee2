package clients

import (
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

type informerKey struct{ resource, namespace, selector string }

// informer is the state of an Informer.
type informer struct {
	informerKey
	// crowd is set if it is several informers: their ends and lists cannot be paired.
	crowd bool
	// watched is set once there was a watch.
	watched              bool
	open                 int
	opened               uint64
	ends, relists, lists map[string]uint64
	gaps, listed, first  Histogram
	states               map[*replica]*state
}

// state is what one replica of a client does about an Informer.
type state struct {
	open []*watch
	// ended are the watches without a successor yet, the oldest first.
	ended []*end
	// last is how the last watch ended, or why none could be opened.
	last string
	// opens is the number of watches known, those that began before the log included.
	opens int
	// lasting is set once a watch has shown that it is an informer's, and not a command's.
	lasting bool
	// listing is a list that no watch has followed yet.
	listing *listing
	// fallback is set when the server rejected a streaming list.
	fallback bool
}

// watch is an open watch.
type watch struct {
	client   *client
	informer *informer
	replica  *replica
	state    *state
	received time.Time
	opened   time.Time
	planned  time.Duration
	// gap is since when there was no watch before this one, if there was one before.
	gap time.Time
	// followed is set once a list or an end has been paired with this watch.
	listed, paired bool
	// superseded is when another watch continued this one, although its end is not in the log.
	superseded time.Time
	// version is set if it continues from a version.
	version bool
	// brief is set if it is a check beside an open watch.
	brief bool
}

// end is the end of a watch.
type end struct {
	at     time.Time
	reason string
	// gap is since when there is no watch: earlier than at if this watch never was up.
	gap time.Time
	// opened is when this watch was opened.
	opened time.Time
	// counted is set once the reason has been counted.
	counted bool
	// stopped is set if the client seems to have gone.
	stopped bool
}

// listing is a successful list.
type listing struct {
	at     time.Time
	reason string
	known  bool
}

// maxEnds is the number of ends of a replica's informer that wait for a successor.
const maxEnds = 8

// maxSelector is the length in bytes of the longest selector.
const maxSelector = 200

// informer returns the informer that a watch or list is for.
func (t *Tracker) informer(c *client, e *event.Event, o event.Options) *informer {
	if c.crowd() {
		return t.overLimit(c)
	}
	text, single := selector(e, o)
	key := informerKey{qualified(e), clean(e.Namespace, bounded.MaxText), text}
	if i := c.informers[key]; i != nil {
		return i
	}
	if !t.room(c) {
		return t.overLimit(c)
	}
	return t.addInformer(c, key, single)
}

func (t *Tracker) addInformer(c *client, key informerKey, crowd bool) *informer {
	key = informerKey{strings.Clone(key.resource), strings.Clone(key.namespace), strings.Clone(key.selector)}
	i := &informer{
		informerKey: key, crowd: crowd, ends: map[string]uint64{}, relists: map[string]uint64{}, lists: map[string]uint64{},
		states: map[*replica]*state{},
	}
	c.informers[key] = i
	t.informers++
	return i
}

// overLimit returns the informer of a client for everything above the limits.
func (t *Tracker) overLimit(c *client) *informer {
	key := informerKey{resource: Other}
	if i := c.informers[key]; i != nil {
		return i
	}
	return t.addInformer(c, key, true)
}

// room makes room for an informer of a client: what was only listed, or is no longer watched, makes way. It reports whether there is room.
func (t *Tracker) room(c *client) bool {
	n, most := len(c.informers), t.options.Informers
	if n < fewInformers || t.informers < most && (n < most/10 || t.informers < most/2) {
		return true
	}
	tries := 0
	for key, i := range c.informers {
		if tries++; tries > 20 {
			return false
		}
		if i.open == 0 && !i.watched && key.resource != Other {
			other := t.overLimit(c)
			for how, n := range i.lists {
				other.lists[how] += n
			}
			other.listed.merge(i.listed)
			delete(c.informers, key)
			t.informers--
			return true
		}
	}
	return false
}

func (i *informer) state(r *replica) *state {
	s := i.states[r]
	if s == nil {
		s = &state{}
		i.states[r] = s
	}
	return s
}

// selector returns the selectors as one text, and whether they select a single object. Its name is replaced: there are as many as
// objects.
func selector(e *event.Event, o event.Options) (text string, single bool) {
	fields := o.Fields
	if e.Name != "" || strings.HasPrefix(fields, "metadata.name=") || strings.Contains(fields, ",metadata.name=") {
		return "metadata.name=…", true
	}
	text = o.Labels
	if o.Labels != "" && fields != "" {
		text += " "
	}
	return clean(text+fields, maxSelector), false
}

// merge adds the durations of another Histogram.
func (h *Histogram) merge(other Histogram) {
	for i, n := range other.Counts {
		h.Counts[i] += n
	}
	h.Count += other.Count
	h.Sum += other.Sum
	h.Max = max(h.Max, other.Max)
}
