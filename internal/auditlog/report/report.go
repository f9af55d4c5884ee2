package report

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// Options select what is reported. Zero values select everything.
type Options struct {
	// Since and Until limit the events by the time of their stage.
	Since, Until time.Time
	// Client is a part of the user or of the user agent.
	Client string
}

// Report describes the clients in a log.
type Report struct {
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Events     uint64    `json:"events"`
	Malformed  uint64    `json:"malformed"`
	Duplicates uint64    `json:"duplicates"`
	// Clients are sorted by lost watches, relists, early ends and requests.
	Clients []Client `json:"clients"`
}

// Client is a client.
type Client struct {
	User          string            `json:"user"`
	Agent         string            `json:"userAgent"`
	Replicas      int               `json:"replicas"`
	Requests      uint64            `json:"requests"`
	Open          int               `json:"openWatches"`
	Relists       uint64            `json:"relists"`   // without initial
	EarlyEnds     map[string]uint64 `json:"earlyEnds"` // by reason
	LongestGap    float64           `json:"longestGapSeconds"`
	Lists         map[string]uint64 `json:"lists"` // by how they ask
	Conflicts     uint64            `json:"conflicts"`
	Writes        uint64            `json:"writes"` // updates and patches
	Throttled     uint64            `json:"throttled"`
	RepeatedReads uint64            `json:"repeatedReads"`
	Bytes         uint64            `json:"responseBytes,omitempty"`
	Lost          int               `json:"lostWatches"`
	HotLoops      []HotLoop         `json:"hotLoops,omitempty"`
	Informers     []Informer        `json:"informers,omitempty"`
}

// HotLoop is an object that a client wrote over and over.
type HotLoop struct {
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	PerMinute int       `json:"writesPerMinute"`
	Last      time.Time `json:"last"`
}

// Informer is a resource that a client watches, in a namespace, with a selector.
type Informer struct {
	Resource   string            `json:"resource"`
	Namespace  string            `json:"namespace,omitempty"`
	Selector   string            `json:"selector,omitempty"`
	Open       int               `json:"openWatches"`
	Opened     uint64            `json:"watchesOpened"`
	Ends       map[string]uint64 `json:"ends"`
	Relists    map[string]uint64 `json:"relists"`
	Lists      map[string]uint64 `json:"lists"`
	Gaps       uint64            `json:"gaps"`
	LongestGap float64           `json:"longestGapSeconds"`
	Unwatched  *time.Time        `json:"unwatchedSince,omitempty"`
}

// Of reads files to their end, or until ctx ends, and reports what they show. An error with a report is about files that could not be read
// to their end.
func Of(ctx context.Context, files *Files, o Options) (Report, error) {
	tracker := clients.New(clients.Options{Clients: 2000, Agents: 500, Informers: 20_000})
	err := files.Each(ctx, func(e *event.Event) {
		if !o.Since.IsZero() && e.At.Before(o.Since) || !o.Until.IsZero() && e.At.After(o.Until) || !o.matches(e.User, e.Agent) {
			return
		}
		tracker.Observe(e)
	})
	s := tracker.Snapshot(time.Time{})
	r := Report{First: s.First, Last: s.Last, Events: files.Events, Malformed: files.Malformed + files.Oversize, Duplicates: s.Duplicates}
	for _, c := range s.Clients {
		r.Clients = append(r.Clients, of(c))
	}
	slices.SortStableFunc(r.Clients, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Relists, a.Relists), cmp.Compare(sum(b.EarlyEnds), sum(a.EarlyEnds)),
			cmp.Compare(len(b.HotLoops), len(a.HotLoops)), cmp.Compare(b.Requests, a.Requests))
	})
	return r, err
}

func (o Options) matches(texts ...string) bool {
	return o.Client == "" || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, o.Client) })
}

// Lost returns the number of informers that had a watch, and have none although their client sends requests.
func (r Report) Lost() (n int) {
	for _, c := range r.Clients {
		n += c.Lost
	}
	return n
}

func of(s clients.Client) Client {
	c := Client{
		User: s.User, Agent: s.Agent, Replicas: s.Replicas, EarlyEnds: map[string]uint64{}, Lists: map[string]uint64{},
		Conflicts: sum(s.Conflicts), Throttled: s.Throttled, RepeatedReads: sum(s.RepeatedReads), Bytes: s.Bytes,
	}
	for request, n := range s.Requests {
		c.Requests += n
		if request.Verb == "update" || request.Verb == "patch" {
			c.Writes += n
		}
	}
	for _, hot := range s.HotLoops {
		resource := hot.Resource
		if hot.Subresource != "" {
			resource += "/" + hot.Subresource
		}
		c.HotLoops = append(c.HotLoops, HotLoop{resource, hot.Namespace, hot.Name, hot.Writes, hot.Last})
	}
	for _, i := range s.Informers {
		c.add(i)
	}
	return c
}

// add adds an informer, or what was only listed.
func (c *Client) add(i clients.Informer) {
	for how, n := range i.Lists {
		c.Lists[how] += n
	}
	if !i.Watched {
		return
	}
	c.Open += i.Open
	c.Relists += sum(i.Relists) - i.Relists[reason.Initial]
	for _, why := range reason.Disconnects() {
		if n := i.Ends[why]; n > 0 {
			c.EarlyEnds[why] += n
		}
	}
	c.LongestGap = max(c.LongestGap, i.Gaps.Max)
	shown := Informer{
		Resource: i.Resource, Namespace: i.Namespace, Selector: i.Selector, Open: i.Open, Opened: i.Opened,
		Ends: i.Ends, Relists: i.Relists, Lists: i.Lists, Gaps: i.Gaps.Count, LongestGap: i.Gaps.Max,
	}
	if !i.Unwatched.IsZero() {
		c.Lost++
		shown.Unwatched = &i.Unwatched
		c.LongestGap = max(c.LongestGap, i.UnwatchedFor.Seconds())
	}
	c.Informers = append(c.Informers, shown)
}

func sum[K comparable](counts map[K]uint64) (n uint64) {
	for _, count := range counts {
		n += count
	}
	return n
}
