package collectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/audit"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

const (
	// auditPage is how many objects an audit asks for at a time, as client-go's pager does.
	auditPage = 500
	// auditPageDeadline is how long a page may take.
	auditPageDeadline = 30 * time.Second
	// auditConfirmation is how long after an audit that found differences a second one looks whether they are still there.
	auditConfirmation = 30 * time.Second
	// auditExamples is how many differences are logged by name.
	auditExamples = 5
)

// audits is what the audits of an informer have found.
type audits struct {
	mu sync.Mutex
	// last are the differences of the last audit that could be made, nil before the first.
	last *audit.Differences
	// confirmed is, by kind, how many of them the audit before had found too.
	confirmed map[string]int
	// result is what came of the last audit, whether or not it could be made, and ended when: empty and 0 before the first.
	result string
	ended  int64
}

func (a *audits) status(o *Observer) AuditStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := AuditStatus{Result: a.result}
	if a.ended != 0 {
		s.At = o.wall(a.ended)
	}
	if a.last != nil {
		s.Differences = a.last.Len()
	}
	return s
}

// checkAudit makes an audit and counts its result. It returns in what time the next is due, 0 for the interval.
func (inf *informer) checkAudit(ctx context.Context, confirming *bool) time.Duration {
	var result string
	inf.obs.auditSlots.do(ctx, func() { result = inf.auditResult(ctx) })
	if result == "" || ctx.Err() != nil { // an end and a free slot may come at the same time
		return 0 // the informer has ended, or audits are paused
	}
	inf.group.audits[result].Inc()
	inf.audits.mu.Lock()
	inf.audits.result, inf.audits.ended = result, inf.obs.now()
	inf.audits.mu.Unlock()
	if *confirming = result == catalog.AuditDifferent && !*confirming; *confirming {
		return min(auditConfirmation, inf.checks.Audit)
	}
	return 0
}

// auditResult makes an audit. It returns nothing, and has taken in nothing, if ctx ended before it was made.
func (inf *informer) auditResult(ctx context.Context) string {
	if inf.source.open.Load() == 0 {
		return catalog.AuditSkipped // it is known that the cache stands still
	}
	begin := inf.obs.now()
	report, err := inf.audit(ctx)
	switch {
	case ctx.Err() != nil:
		return ""
	case audit.Skipped(err):
		inf.obs.logger.Debug("An audit was not possible this time", "informer_type", inf.id.Type(), "namespace", inf.id.Scope(), "err", err)
		return catalog.AuditSkipped
	case err != nil:
		inf.obs.logger.Debug("An audit failed", "informer_type", inf.id.Type(), "namespace", inf.id.Scope(), "err", err)
		return catalog.AuditFailed
	}
	inf.group.auditDuration.Observe(seconds(inf.obs.now() - begin))
	inf.audited(report)
	if report.Differences.Len() > 0 {
		return catalog.AuditDifferent
	}
	return catalog.AuditConsistent
}

// audit compares the cache with the API server and with itself. What panics on a damaged cache, an index function for
// example, ends the audit and nothing else.
func (inf *informer) audit(ctx context.Context) (report *audit.Report, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	report, err = audit.Compare(ctx, inf.indexer, inf.exactPage, auditPage)
	if err != nil {
		return nil, err
	}
	indexes, err := audit.Indexes(inf.indexer)
	if errors.Is(err, audit.ErrChanging) {
		return report, nil // the indexes of a store that never rests are left out
	}
	if err != nil {
		return nil, err
	}
	report.Differences.Merge(indexes)
	return report, nil
}

// exactPage lists one page, uncounted.
func (inf *informer) exactPage(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, auditPageDeadline)
	defer cancel()
	return within(ctx, func() (runtime.Object, error) { return inf.lister.ListWithContext(ctx, options) }, nil)
}

// audited takes in the result of an audit.
func (inf *informer) audited(report *audit.Report) {
	a := &inf.audits
	a.mu.Lock()
	last, before := a.last, a.confirmed
	if last == nil {
		last = audit.NewDifferences()
	}
	a.last = report.Differences
	a.confirmed = report.Differences.Both(last)
	confirmed := a.confirmed
	a.mu.Unlock()

	inf.group.collisions.Add(float64(report.Differences.New(catalog.DifferenceKeyCollision, last)))
	if sum(confirmed) > 0 && sum(before) == 0 {
		inf.obs.logger.Warn("The cache differs from the API server, as two audits have found", "informer_type", inf.id.Type(),
			"namespace", inf.id.Scope(), "differences", confirmed, "resourceVersion", report.Version,
			"examples", report.Differences.Examples(auditExamples, last))
	}
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// differences returns, by kind, what two audits of the members have found, false if there was no audit yet.
func (g groupView) differences() (found map[string]int, audited bool) {
	found = map[string]int{}
	for _, inf := range g.members {
		a := &inf.audits
		a.mu.Lock()
		audited = audited || a.last != nil
		for kind, n := range a.confirmed {
			found[kind] += n
		}
		a.mu.Unlock()
	}
	return found, audited
}
