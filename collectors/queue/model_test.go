package queue_test

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// queueModel computes what a queue must report if it is never called concurrently.
type queueModel struct {
	limitingQueue
	limiter workqueue.TypedRateLimiter[string]

	mu                sync.Mutex
	coalesced         int
	dirty, processing map[string]bool
	since, until      map[string]time.Time
	shutDown, ended   bool
	waiting           int
}

type signal struct {
	name  string
	value float64
}

func (m *queueModel) signals() []signal {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance()
	if m.ended && len(m.processing)+len(m.since) == 0 { // a scrape no longer reads the queue
		clear(m.until)
	}
	var oldest time.Duration
	for _, since := range m.since {
		oldest = max(oldest, time.Since(since))
	}
	return []signal{
		{"controller_queue_coalesced_total{controller=c}", float64(m.coalesced)},
		{"controller_queue_delayed_items{controller=c}", float64(len(m.until))},
		{"controller_queue_oldest_item_seconds{controller=c}", oldest.Seconds()},
		{"controller_running_workers{controller=c}", float64(m.waiting + len(m.processing))},
	}
}

// advance adds the items that are due.
func (m *queueModel) advance() {
	for !m.shutDown {
		var next string
		for item, until := range m.until {
			if !until.After(time.Now()) && (next == "" || until.Before(m.until[next])) {
				next = item
			}
		}
		if next == "" {
			return
		}
		m.added(next, m.until[next])
		delete(m.until, next)
	}
}

func (m *queueModel) added(item string, at time.Time) {
	switch {
	case m.shutDown:
	case m.dirty[item]:
		m.coalesced++
	default:
		m.dirty[item] = true
		if !m.processing[item] {
			m.since[item] = at
		}
	}
}

func (m *queueModel) Add(item string) {
	m.mu.Lock()
	m.advance()
	m.added(item, time.Now())
	m.mu.Unlock()
	m.limitingQueue.Add(item)
}

func (m *queueModel) delayed(item string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance()
	until := time.Now().Add(d)
	if known, ok := m.until[item]; d <= 0 {
		m.added(item, time.Now())
	} else if !m.shutDown && (!ok || until.Before(known)) {
		m.until[item] = until
	}
}

func (m *queueModel) AddAfter(item string, d time.Duration) {
	m.delayed(item, d)
	m.limitingQueue.AddAfter(item, d)
}

func (m *queueModel) AddRateLimited(item string) {
	m.delayed(item, m.limiter.When(item))
	m.limitingQueue.AddRateLimited(item)
}

func (m *queueModel) Forget(item string) {
	m.limiter.Forget(item)
	m.limitingQueue.Forget(item)
}

func (m *queueModel) Get() (string, bool) {
	m.mu.Lock()
	m.waiting++
	m.mu.Unlock()
	item, shutdown := m.limitingQueue.Get()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting--
	m.advance()
	if m.ended = m.ended || shutdown; shutdown {
		return item, shutdown
	}
	m.processing[item] = true
	delete(m.dirty, item)
	delete(m.since, item)
	return item, shutdown
}

func (m *queueModel) Done(item string) {
	m.mu.Lock()
	m.advance()
	delete(m.processing, item)
	if m.dirty[item] {
		m.since[item] = time.Now()
	}
	m.mu.Unlock()
	m.limitingQueue.Done(item)
}

func (m *queueModel) ShutDown() {
	m.close()
	m.limitingQueue.ShutDown()
}

func (m *queueModel) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.advance()
	m.shutDown = true
}

func (m *queueModel) ShutDownWithDrain() {
	m.close()
	m.limitingQueue.ShutDownWithDrain()
}
