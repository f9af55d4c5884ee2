package echo

import (
	"context"
	"sync/atomic"
)

// Writer is a controller. Its writes are those with the context of a reconcile. All methods are safe for concurrent use, and have no
// effect on a nil Writer.
type Writer struct {
	watches *Watches
	// wrote is set once a write to a resource that the program watches was sent.
	wrote atomic.Bool
}

// maxWriters bounds the memory of a program that generates names of controllers.
const maxWriters = 1000

// Writer returns the Writer of a controller, nil if there are 1,000 others.
func (r *Watches) Writer(controller string) *Writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writers[controller]
	if w == nil && len(r.writers) < maxWriters {
		w = &Writer{watches: r}
		r.writers[controller] = w
	}
	return w
}

type writerKey struct{}

// Context returns the context of a reconcile. It allocates, unless no transport of the program reports writes.
func (w *Writer) Context(ctx context.Context) context.Context {
	if w == nil || !w.watches.reported.Load() {
		return ctx
	}
	return context.WithValue(ctx, writerKey{}, w)
}

// WriterOf returns the Writer with a context, nil if there is none.
func WriterOf(ctx context.Context) *Writer {
	w, _ := ctx.Value(writerKey{}).(*Writer)
	return w
}

// Pending are the watches on which the echo of a write may arrive before its response.
type Pending []watched

// ReportWrites is called if Sending and Wrote will be.
func (r *Watches) ReportWrites() { r.reported.Store(true) }

// Sending records that a controller sends a write, before it does. Answered must be called after Wrote, or if there is nothing to call
// Wrote for.
func (r *Watches) Sending(by *Writer, group, resource string) Pending {
	if by == nil {
		return nil
	}
	all := Pending(r.watches(group, resource))
	for _, w := range all {
		w.unanswered.Add(1)
	}
	if len(all) > 0 && !by.wrote.Load() {
		by.wrote.Store(true)
	}
	return all
}

// Answered undoes Sending.
func (p Pending) Answered() {
	for _, w := range p {
		w.unanswered.Add(-1)
	}
}
