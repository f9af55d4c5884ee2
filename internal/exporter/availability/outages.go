package availability

import (
	"log/slog"
	"sync"
	"time"
)

// Outages logs when resources become unreachable and reachable again, with one line for all of an outage instead of one for each
// resource.
type Outages struct {
	log          *slog.Logger
	began, ended batch
}

// NewOutages returns Outages that log to log.
func NewOutages(log *slog.Logger) *Outages { return &Outages{log: log} }

// outageBatch is how long a line waits for other resources. Their connections fail within moments, but reflectors back off by
// different times.
const outageBatch = 3 * time.Second

// batch is a number of resources.
type batch struct {
	mu        sync.Mutex
	resources int
}

// add adds a resource. Within outageBatch after the first one, it calls one if no other is added, and otherwise several once with
// their number.
func (b *batch) add(one func(), several func(resources int)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resources++; b.resources > 1 {
		return
	}
	time.AfterFunc(outageBatch, func() {
		b.mu.Lock()
		resources := b.resources
		b.resources = 0
		b.mu.Unlock()
		if resources == 1 {
			one()
			return
		}
		several(resources)
	})
}

// failed records that a resource cannot be read. log is the logger of the resource.
func (o *Outages) failed(log *slog.Logger, err error) {
	one := func() { log.Warn("cannot read the resource; retrying", "err", err) }
	if o == nil {
		one()
		return
	}
	o.began.add(one, func(n int) { o.log.Warn("cannot read resources; retrying", "resources", n, "err", err) })
}

// recovered records that a resource can be read again.
func (o *Outages) recovered(log *slog.Logger) {
	one := func() { log.Info("API server is reachable again") }
	if o == nil {
		one()
		return
	}
	o.ended.add(one, func(n int) { o.log.Info("API server is reachable again", "resources", n) })
}
