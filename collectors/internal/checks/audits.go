package checks

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

const (
	// auditPage is the page size of an audit's list, as in client-go's pager.
	auditPage = 500
	// auditPageDeadline is the timeout of a page.
	auditPageDeadline = 30 * time.Second
	// auditTurn is the time after which the next audit starts, even if the previous one has not ended: a slow list of one resource must
	// not delay the audits of all others.
	auditTurn = time.Minute
	// auditDeadline is the timeout of an audit. An audit of a million objects takes two minutes. The API server has etcd
	// compact the version after five minutes.
	auditDeadline = 10 * time.Minute
	// auditConfirmation is the longest time from an audit that found differences to the one that confirms them.
	auditConfirmation = 30 * time.Second
	// auditSooner is how many times as often small caches are audited, unless that is more than auditShare lists in an interval of
	// an Observer, or more than one in auditSoonest.
	auditSooner, auditShare = 5, 100
	auditSoonest            = time.Minute
	// auditQuick is the longest audit after which the next may be sooner: a slow API server is spared.
	auditQuick = time.Second
	// auditExamples is the number of differences that are logged by name.
	auditExamples = 5
)

// audits is the outcome of the audits of an informer.
type audits struct {
	mu sync.Mutex
	// last are the differences found by the last completed audit, nil before the first.
	last *audit.Differences
	// small is set if it needed one request, and was quick.
	small bool
	// confirmed is the number of these differences, by type, that the previous audit had found too.
	confirmed map[string]int
	status    AuditStatus
}

// AuditStatus is the state of the audits of an informer.
type AuditStatus struct {
	// Result is the result of the last audit, empty before the first.
	Result string
	// At is the time at which the last audit ended, the zero time before the first. It is the same in each call.
	At time.Time
	// Differences is the number of differences that the last completed audit found, confirmed or not.
	Differences int
}

// AuditStatus returns the state of the audits.
func (c *Checks) AuditStatus() AuditStatus {
	a := &c.audits
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// AddDifferences adds the number of differences confirmed by two audits to total, by type. It reports false
// before the first completed audit.
func (c *Checks) AddDifferences(total map[string]int) (audited bool) {
	a := &c.audits
	a.mu.Lock()
	defer a.mu.Unlock()
	for difference, n := range a.confirmed {
		total[difference] += n
	}
	return a.last != nil
}

// auditUnlessPaused runs audits until ctx ends, while they are not paused.
func (c *Checks) auditUnlessPaused(ctx context.Context) {
	for {
		allowed, ok := c.Shared.Auditing.Wait(ctx)
		if !ok {
			return
		}
		c.Shared.auditing.Add(1)
		turn, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(allowed, cancel)
		var confirming bool
		schedule.Every(turn, c.Intervals.Audit, func() time.Duration { return c.checkAudit(turn, &confirming) })
		stop()
		cancel()
		c.Shared.auditing.Add(-1)
		c.audits.forget()
	}
}

// forget discards the outcome, so that the next audit counts as the first.
func (a *audits) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last, a.confirmed, a.status = nil, nil, AuditStatus{}
}

// checkAudit runs an audit and counts its result. It returns the time until the next, 0 for the interval.
func (c *Checks) checkAudit(ctx context.Context, confirming *bool) time.Duration {
	var result string
	c.Shared.audits.DoWithin(ctx, auditTurn, func() { result = c.auditResult(ctx) })
	if result == "" || ctx.Err() != nil { // ctx may have ended when a slot became free
		return 0 // the informer has ended, or audits are paused
	}
	c.audits.mu.Lock()
	c.audits.status.Result, c.audits.status.At = result, c.Observer.Wall(c.Observer.Now())
	c.Metrics.audits.Inc(result) // under the lock: a reader of the status finds the result counted
	small := c.audits.small
	c.audits.mu.Unlock()
	if *confirming = result == AuditDifferent && !*confirming; *confirming {
		return min(auditConfirmation, c.Intervals.Audit)
	}
	if small && (result == AuditConsistent || result == AuditDifferent) {
		return sooner(c.Intervals.Audit, c.Shared.auditing.Load())
	}
	return 0
}

// sooner returns the interval of audits of small caches, in a program with n audited informers.
func sooner(interval time.Duration, n int64) time.Duration {
	return min(interval, max(interval/auditSooner, interval/auditShare*time.Duration(n), auditSoonest))
}

// auditResult runs an audit. It returns the empty string, and records nothing, if ctx ended first.
func (c *Checks) auditResult(ctx context.Context) string {
	if !c.Connection.Open() {
		return AuditSkipped // the cache is known to be stale
	}
	begin := c.Observer.Now()
	report, err := c.compare(ctx)
	switch {
	case ctx.Err() != nil:
		return ""
	case audit.Skipped(err):
		c.logger().Debug("audit skipped", "err", err)
		return AuditSkipped
	case err != nil:
		c.logger().Debug("audit failed", "err", err)
		return AuditError
	}
	took := c.Observer.Now() - begin
	c.Metrics.auditDuration.Observe(core.Seconds(took))
	c.record(report, report.Requests == 1 && took <= int64(auditQuick))
	if report.Differences.Len() > 0 {
		return AuditDifferent
	}
	return AuditConsistent
}

// compare compares the cache with the API server and with itself. A panic on a damaged cache
// ends only the audit.
func (c *Checks) compare(ctx context.Context) (report *audit.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, auditDeadline)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	report, err = audit.Compare(ctx, c.Store, c.exactPage, auditPage, c.Renamed)
	if err != nil {
		return nil, err
	}
	indexes, err := audit.Indexes(c.Store)
	if err != nil {
		return nil, err
	}
	report.Differences.Merge(indexes)
	return report, nil
}

// exactPage lists one page. The request is not counted.
func (c *Checks) exactPage(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, auditPageDeadline)
	defer cancel()
	return schedule.Call(ctx, func() (runtime.Object, error) { return c.Lister.ListWithContext(ctx, options) }, nil)
}

// record stores the outcome of an audit, and logs when differences are confirmed for the first time.
func (c *Checks) record(report *audit.Report, small bool) {
	a := &c.audits
	a.mu.Lock()
	last, before := a.last, a.confirmed
	if last == nil {
		last = audit.NewDifferences()
	}
	a.last, a.small, a.status.Differences = report.Differences, small, report.Differences.Len()
	a.confirmed = report.Differences.Both(last)
	confirmed := a.confirmed
	a.mu.Unlock()

	c.Metrics.collisions.Add(float64(report.Differences.New(audit.DifferenceKeyCollision, last)))
	if sum(confirmed) > 0 && sum(before) == 0 {
		c.logger().Warn("cache is inconsistent with the API server, confirmed by a second audit", "differences", confirmed,
			"resourceVersion", report.Version, "examples", report.Differences.Examples(auditExamples, last))
	}
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
