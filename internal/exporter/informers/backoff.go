package informers

import (
	"context"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/cache"
)

// backoff knows when a reflector waits before it repeats a streaming list. client-go (Reflector.watchList) does not end that wait
// with the context: after some failures, it lasts up to a minute.
type backoff struct{ sleeping atomic.Bool }

// watched records the result of a watch request of a reflector, and returns the error that the reflector must get.
func (b *backoff) watched(ctx context.Context, options metav1.ListOptions, err error) error {
	if err == nil || !isStreaming(options) {
		return err
	}
	b.sleeping.Store(utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)) // as client-go's isWatchErrorRetriable
	// Only after Store: if runUntil does not see it, ctx has ended here, and this error makes the reflector return.
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// watching records that a watch request is sent. Other watches, such as those of freshness checks, are not the reflector's.
func (b *backoff) watching(options metav1.ListOptions) {
	if isStreaming(options) {
		b.sleeping.Store(false)
	}
}

func isStreaming(options metav1.ListOptions) bool {
	return options.SendInitialEvents != nil && *options.SendInitialEvents
}

// runUntil runs an informer until it has stopped. After the end of ctx, it does not wait for a backoff: the reflector sends no more
// requests, and ends when it wakes up.
func runUntil(ctx context.Context, informer cache.SharedIndexInformer, b *backoff) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	if !b.sleeping.Load() {
		<-ended
	}
}
