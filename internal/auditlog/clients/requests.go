package clients

import (
	"hash/maphash"
	"net/http"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

const (
	// maxReads and maxBursts are the numbers of reads and written objects remembered.
	maxReads, maxBursts = 1 << 16, 1 << 14
	// maxObjects and maxHot are the numbers of resources and hot loops of a client.
	maxObjects, maxHot = 100, 20
	// rereading is the time within which a read is a repetition.
	rereading = 10 * time.Minute
	// hotWrites is the number of writes of an object within a minute above which they are a hot loop.
	hotWrites = 60
)

// burst counts the writes of an object within a minute.
type burst struct {
	since time.Time
	n     int
}

type hotKey struct {
	object          Object
	namespace, name string
}

// verbs are the verbs of requests for resources.
var verbs = map[string]bool{
	"get": true, "list": true, "watch": true, "create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
}

// classes of status codes.
var classes = map[int]string{2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}

// request counts a request that is complete, or a watch at its first event.
func (t *Tracker) request(c *client, e *event.Event) {
	if e.Stage == event.StageStarted && e.Verb != "watch" {
		return // logs of Pods, exec
	}
	key := Request{Other, Other}
	if verbs[e.Verb] {
		key.Verb = strings.Clone(e.Verb)
	}
	if class := classes[e.Code/100]; class != "" {
		key.Class = class
	}
	c.requests[key]++
	c.bytes += uint64(e.Bytes)
	if e.Code == http.StatusTooManyRequests {
		c.throttled++
	}
	if e.Resource == "" || e.Resource == "leases" {
		return
	}
	switch e.Verb {
	case "update", "patch":
		if e.Code == http.StatusConflict {
			add(c.conflicts, Object{qualified(e), clean(e.Subresource, maxAgent)})
		}
		if e.Resource != "events" {
			t.write(c, e)
		}
	case "get":
		if e.Subresource == "" && e.Name != "" && e.Code/100 == 2 {
			t.read(c, e)
		}
	}
}

// read counts a GET of an object that the client has read recently.
func (t *Tracker) read(c *client, e *event.Event) {
	key := t.hash(c, e)
	last, found := t.reads.get(key)
	t.reads.put(key, e.At)
	if found && e.At.Sub(last) < rereading {
		add(c.repeated, Object{Resource: qualified(e)})
	}
}

// write counts the writes of an object, whether they succeed or not.
func (t *Tracker) write(c *client, e *event.Event) {
	key := t.hash(c, e)
	b, _ := t.writes.get(key)
	if b == nil {
		b = &burst{since: e.At}
		t.writes.put(key, b)
	}
	if e.At.Sub(b.since).Abs() >= time.Minute {
		*b = burst{since: e.At}
	}
	if b.n++; b.n <= hotWrites {
		return
	}
	object := hotKey{Object{qualified(e), clean(e.Subresource, maxAgent)}, clean(e.Namespace, bounded.MaxText), clean(e.Name, bounded.MaxText)}
	hot := c.hot[object]
	if hot == nil {
		if len(c.hot) >= maxHot && !c.forgetHot(e.At) {
			return
		}
		hot = &HotLoop{Object: object.object, Namespace: object.namespace, Name: object.name}
		c.hot[object] = hot
	}
	if hot.Total++; b.n == hotWrites+1 {
		hot.Total += hotWrites
	}
	hot.Writes, hot.Last = max(hot.Writes, b.n), later(hot.Last, e.At)
}

// forgetHot removes a hot loop that ended an hour ago. It reports whether there was one.
func (c *client) forgetHot(now time.Time) bool {
	for key, hot := range c.hot {
		if now.Sub(hot.Last) >= forgotten {
			delete(c.hot, key)
			return true
		}
	}
	return false
}

// hash identifies an object and the client that requests it.
func (t *Tracker) hash(c *client, e *event.Event) uint64 {
	verb := "write" // the same for all verbs that write
	if e.Verb == "get" {
		verb = e.Verb
	}
	return maphash.Comparable(t.seed, struct {
		client                                              *client
		verb, group, resource, subresource, namespace, name string
	}{c, verb, e.Group, e.Resource, e.Subresource, e.Namespace, e.Name})
}

// add counts an object, as Other above the limit.
func add(counts map[Object]uint64, object Object) {
	if _, known := counts[object]; !known && len(counts) >= maxObjects {
		object = Object{Resource: Other}
	}
	counts[object]++
}
