package collectors

import (
	"fmt"
	"time"
)

// Checks configures comparisons of caches with the API server and with themselves. They cost requests or CPU time, and are
// therefore off unless an interval is set. Freshness and Audit need a decorated connection to the API server: they skip informers of
// informer.Wrap. Checks only report differences, and do not repair them.
//
// Intervals have a jitter of a tenth, so that the replicas of a program do not send requests at the same time. Requests go
// through the informer's own ListerWatcher, with its selectors, namespace, permissions (list and watch) and client-side rate
// limit. They do not count as lists and watches of the informer.
type Checks struct {
	// Freshness is the interval of freshness checks: a separate watch for one second, which shows changes that the store
	// lacks. A check costs one watch request and at most 256 events, regardless of the number of objects.
	//
	// Informers of an Observer take turns, because they usually share a connection. An event or a bookmark on an informer's own
	// watch is equivalent to a check, once the store has it and no other event has followed for two seconds. An Observer makes
	// one check per interval, of the informer with the oldest proof. An informer without a proof in three intervals, because
	// the API server sends it no bookmarks or because events never pause, is checked within ten intervals. After a check fails
	// or finds a difference, all informers without a proof in the last interval are checked, at most 16 at a time.
	//
	// 30 seconds is a good value. The bookmarks of kube-apiserver are a minute apart: with an interval below 20 seconds,
	// they no longer replace checks.
	Freshness time.Duration
	// Audit is the interval of audits, which compare every object of a cache with the API server at the cache's
	// resourceVersion, and every index with the objects. An audit costs a LIST of all objects, in pages of 500, or of 1,000 if
	// the list has only metadata, served from etcd or from a snapshot of the API server's watch cache. In this process it takes
	// 17 bytes per object while it lists and, per 100,000 objects, about 0.2 s of CPU time, 0.1 s more for each index, and
	// seconds to decode the list. An Observer runs one audit at a time, or more if one takes longer than a minute. An audit
	// that finds differences is repeated within 30 seconds. A cache of one page, the audit of which took less than a second, is
	// audited five times as often, but not more than once a minute and, together with the others, at most 100 times per interval.
	// An audit ends in an error after 10 minutes or 20,000 pages. 10 minutes is a good value. Only the leader needs audits: see
	// informer.PauseAudits.
	Audit time.Duration
	// Mutations is the interval of mutation checks. Each check adds 10 random objects of a cache to a sample of at most 100: if
	// the content of an object changes while its address and resourceVersion stay the same, a consumer has changed the cached
	// object. A check makes no request and takes a few milliseconds of CPU time. An Observer checks one cache at a time. A
	// minute is a good value.
	//
	// The check reads objects without a lock, as every consumer does. With -race it can therefore report the data race of
	// the bug that it looks for. If a consumer writes to a map of an object during the read, the process crashes, as it would
	// with any other reader, such as DeepCopy. Programs without the bug are not affected.
	Mutations time.Duration
	// Memory is the interval of estimates of a cache's memory by part, for k8s_informer_cache_bytes. An estimate reads up to 500 random
	// objects for at most 50 ms of CPU time, and makes no request. It is within 15 % of the heap for objects as the API server sends
	// them. Memory that objects share counts for each, as with a Transform that reuses strings. 5 minutes is a good value. Like
	// Mutations, it reads objects without a lock.
	Memory time.Duration
}

// DefaultChecks returns the checks of the exporter: Freshness every 30 seconds and Audit every 10 minutes, 2 for caches of one page.
// With N informers of M objects in all, an Observer then sends 2 short watches and at most M/5000 + max(N/10, min(N/2, 10)) lists per
// minute. Objects of which a cache keeps only metadata cost half as many lists. Up to N/5 watches per minute are sent for informers
// that receive no bookmarks.
func DefaultChecks() Checks { return Checks{Freshness: 30 * time.Second, Audit: 10 * time.Minute} }

func (c Checks) validate() error {
	for _, interval := range []struct {
		name  string
		value time.Duration
	}{{"Freshness", c.Freshness}, {"Audit", c.Audit}, {"Mutations", c.Mutations}, {"Memory", c.Memory}} {
		if interval.value < 0 {
			return fmt.Errorf("collectors: Options.Checks.%s is %v: use a positive duration, or 0 to disable the check", interval.name, interval.value)
		}
	}
	return nil
}
