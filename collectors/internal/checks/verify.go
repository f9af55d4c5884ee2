package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Errors of Verify.
var (
	errUnobserved = errors.New("cannot be checked without both its connection and its store: decorate both, or set NoRequests")
	errHangs      = errors.New("its store does not respond: another goroutine holds its lock, such as one in a slow index function")
	errLagging    = errors.New("the cache lacks changes that a second watch has received")
	errUnanswered = errors.New("a freshness check failed: the API server rejected its watch, or did not end it in time")
	errUnknown    = errors.New("a freshness check had no result: the cache has no version that the API server still has, or the watch has just ended")
)

// Verify checks immediately, out of turn, whether the store has everything that a second watch delivers, and whether it equals the
// API server. The first check takes one to ten seconds, the second as long as an audit.
func (c *Checks) Verify(ctx context.Context, fresh, equal bool) error {
	if (fresh || equal) && (c.Lister == nil || c.Store == nil) {
		return errUnobserved
	}
	if fresh || equal {
		if _, ok := c.version.read(ctx, c.Store); !ok {
			return cmp.Or(context.Cause(ctx), errHangs)
		}
	}
	if fresh {
		if err := c.verifyFresh(ctx); err != nil {
			return err
		}
	}
	if equal {
		return c.verifyEqual(ctx)
	}
	return nil
}

func (c *Checks) verifyFresh(ctx context.Context) error {
	result := c.freshnessResult(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case result == FreshnessFresh:
		return nil
	case result == FreshnessLagging:
		return errLagging
	case result == FreshnessSkipped:
		return errUnknown
	}
	return errUnanswered
}

// verifyEqual compares the cache with the API server, twice if the first comparison finds differences, as audits do. It does
// not count as an audit.
func (c *Checks) verifyEqual(ctx context.Context) error {
	first, err := c.compare(ctx)
	if err != nil {
		return fmt.Errorf("cannot compare the cache with the API server: %w", err)
	}
	if first.Differences.Len() == 0 {
		return nil
	}
	second, err := c.compare(ctx)
	if err != nil {
		return fmt.Errorf("cannot compare the cache with the API server again: %w", err)
	}
	both := second.Differences.Both(first.Differences)
	if sum(both) == 0 {
		return nil
	}
	examples := second.Differences.Examples(auditExamples, first.Differences)
	return fmt.Errorf("the cache differs from the API server at resourceVersion %s: %v, such as %v", second.Version, both, examples)
}
