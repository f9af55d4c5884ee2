package clients

import (
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// clientKey identifies a client.
type clientKey struct{ user, agent string }

// client is the state of a Client.
type client struct {
	clientKey
	lastSeen  time.Time
	replicas  map[string]*replica
	informers map[informerKey]*informer
	requests  map[Request]uint64
	conflicts map[Object]uint64
	repeated  map[Object]uint64
	hot       map[hotKey]*HotLoop
	throttled uint64
	bytes     uint64
}

// replica is a source address of a client.
type replica struct {
	lastSeen time.Time
	// open is the number of its open watches.
	open int
	// restarted is when it last sent the first list of a program that had watches before.
	restarted time.Time
}

// client returns the client that sent a request, or that of all clients above the limits.
func (t *Tracker) client(e *event.Event) *client {
	key := clientKey{clean(e.User, bounded.MaxText), clean(firstWord(e.Agent), maxAgent)}
	if c := t.clients[key]; c != nil {
		return c
	}
	if t.agents[key.user] >= t.options.Agents {
		key.agent = Other
		if c := t.clients[key]; c != nil {
			return c
		}
	}
	if len(t.clients) >= t.options.Clients && !t.forget() {
		key = clientKey{user: Other}
		if c := t.clients[key]; c != nil {
			return c
		}
	}
	key = clientKey{strings.Clone(key.user), strings.Clone(key.agent)}
	c := &client{
		clientKey: key, replicas: map[string]*replica{}, informers: map[informerKey]*informer{},
		requests: map[Request]uint64{}, conflicts: map[Object]uint64{}, repeated: map[Object]uint64{}, hot: map[hotKey]*HotLoop{},
	}
	t.clients[key] = c
	t.agents[key.user]++
	return c
}

// forget removes a client that has not sent a request for an hour. It reports whether there was one.
func (t *Tracker) forget() bool {
	for key, c := range t.clients {
		if t.clock.now.Sub(c.lastSeen) < forgotten || c.open() > 0 {
			continue
		}
		t.informers -= len(c.informers)
		delete(t.clients, key)
		if t.agents[key.user]--; t.agents[key.user] <= 0 {
			delete(t.agents, key.user)
		}
		return true
	}
	return false
}

func (c *client) open() (n int) {
	for _, r := range c.replicas {
		n += r.open
	}
	return n
}

// crowd reports whether c is several clients.
func (c *client) crowd() bool { return c.user == Other && c.agent == "" || c.agent == Other }

// replica returns the replica with a source address. Those above the limit share one.
func (c *client) replica(source string) *replica {
	if c.crowd() {
		source = ""
	}
	r := c.replicas[source]
	if r == nil && len(c.replicas) >= maxReplicas {
		source = ""
		r = c.replicas[source]
	}
	if r == nil {
		r = &replica{}
		c.replicas[bounded.Text(source)] = r
	}
	return r
}

// maxAgent is the length in bytes of the longest first word of a user agent.
const maxAgent = 64

// firstWord returns the name of the program in a user agent: kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/….
func firstWord(agent string) string {
	if i := strings.IndexAny(agent, "/ \t("); i >= 0 {
		return agent[:i]
	}
	return agent
}

// clean returns a text of at most limit bytes that can be printed and be the value of a label. Most texts are returned unchanged, and
// share memory with text.
func clean(text string, limit int) string {
	plain := len(text) <= limit
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain {
		return text
	}
	text = untrusted.Printable(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// qualified returns a resource with its group unless it is the core group.
func qualified(e *event.Event) string {
	if e.Group == "" {
		return clean(e.Resource, bounded.MaxText)
	}
	return clean(e.Resource+"."+e.Group, bounded.MaxText)
}
