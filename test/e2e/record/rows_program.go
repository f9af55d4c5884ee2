package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

// programOnly prepares a program with a fault, next to an exporter without faults.
func programOnly(o func(*program) programOptions, breaks func(context.Context, *program) error) func(context.Context, *lab) (*subject, error) {
	return func(_ context.Context, l *lab) (*subject, error) {
		p, t, err := l.startProgram(l.plane.Config(), o)
		return &subject{[]*target{l.well, t}, func(ctx context.Context) error { return breaks(ctx, p) }}, err
	}
}

func ordinary(*program) programOptions { return programOptions{} }

// strike activates the program's fault until ctx ends.
func strike(ctx context.Context, p *program) error {
	p.strikes.Store(true)
	<-ctx.Done()
	p.strikes.Store(false)
	return nil
}

// strikeFromTheStart replaces the program with a new process that has its fault active.
func strikeFromTheStart(ctx context.Context, p *program) error {
	p.strikes.Store(true)
	if err := restart(ctx, []*target{p.target}); err != nil {
		return err
	}
	return strike(ctx, p)
}

// whenStruck returns a handler that calls do for each event while the fault is active.
func whenStruck(p *program, do func()) cache.ResourceEventHandler {
	act := func() {
		if p.strikes.Load() {
			do()
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { act() }, UpdateFunc: func(any, any) { act() }, DeleteFunc: func(any) { act() },
	}
}

func blockedHandler(p *program) programOptions {
	return programOptions{handler: whenStruck(p, func() {
		for p.strikes.Load() {
			time.Sleep(50 * time.Millisecond)
		}
	})}
}

// panickingHandler panics occasionally. After each panic, client-go waits for a second.
func panickingHandler(p *program) programOptions {
	n := 0
	return programOptions{handler: whenStruck(p, func() {
		if n++; n%20 == 0 {
			panic("the fault")
		}
	})}
}

// removeBusyHandlers repeatedly adds a handler, and removes it while it is busy.
func removeBusyHandlers(ctx context.Context, p *program) error {
	return addAndRemove(ctx, p, func() cache.ResourceEventHandler {
		until := time.Now().Add(70 * time.Second) // longer than the handler is registered
		return cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { _ = sleepUntil(ctx, until) }}
	})
}

// addHandlers repeatedly adds a handler.
func addHandlers(ctx context.Context, p *program) error {
	return addAndRemove(ctx, p, func() cache.ResourceEventHandler { return cache.ResourceEventHandlerFuncs{} })
}

func addAndRemove(ctx context.Context, p *program, newHandler func() cache.ResourceEventHandler) error {
	var errs []error
	every(ctx, time.Minute, func() {
		registration, err := p.informer.AddEventHandler(informer.NamedHandler("late", newHandler()))
		if err != nil {
			errs = append(errs, err)
			return
		}
		_ = sleep(ctx, time.Minute)
		errs = append(errs, p.informer.RemoveEventHandler(registration))
	})
	return errors.Join(errs...)
}

// transforming returns the options of a program with a Transform that applies act to about a third of the events while the
// fault is active.
func transforming(act func(*corev1.ConfigMap) (any, error)) func(*program) programOptions {
	return func(p *program) programOptions {
		return programOptions{
			transform: func(obj any) (any, error) {
				m, ok := obj.(*corev1.ConfigMap)
				if ok && p.strikes.Load() && len(m.ResourceVersion) > 0 && m.ResourceVersion[len(m.ResourceVersion)-1] < '3' {
					return act(m)
				}
				return obj, nil
			},
		}
	}
}

func transformingLists(act func(*corev1.ConfigMap) (any, error)) func(*program) programOptions {
	return func(p *program) programOptions {
		o := transforming(act)(p)
		o.lists = true
		return o
	}
}

// renaming returns the options of a program with audits, and a Transform that gives objects the same name.
func renaming(p *program) programOptions {
	o := transforming(changesName)(p)
	o.checks = collectors.Checks{Audit: time.Minute}
	return o
}

// transformThatBlocks returns the options of a program with a Transform that hangs while the fault is active.
func transformThatBlocks(p *program) programOptions {
	return transforming(func(m *corev1.ConfigMap) (any, error) {
		for p.strikes.Load() {
			time.Sleep(50 * time.Millisecond)
		}
		return m, nil
	})(p)
}

// readsEarly returns the options of a program that reads the cache before it is synced.
func readsEarly(*program) programOptions { return programOptions{readsEarly: true} }

// leakHandlers adds handlers and does not remove them.
func leakHandlers(ctx context.Context, p *program) error {
	var errs []error
	every(ctx, 15*time.Second, func() {
		_, err := p.informer.AddEventHandler(informer.NamedHandler("leaked", cache.ResourceEventHandlerFuncs{}))
		errs = append(errs, err)
	})
	return errors.Join(errs...)
}

// unfiltered returns the options of a program with an informer that gets the objects of all namespaces.
func unfiltered(*program) programOptions { return programOptions{unfiltered: true} }

func fails(*corev1.ConfigMap) (any, error)      { return nil, errors.New("the fault") }
func returnsNil(*corev1.ConfigMap) (any, error) { return nil, nil }

func stripsVersion(m *corev1.ConfigMap) (any, error) {
	m.ResourceVersion = ""
	return m, nil
}

func changesName(m *corev1.ConfigMap) (any, error) {
	m.Name = "same"
	return m, nil
}

func mutations(*program) programOptions {
	return programOptions{namespace: quiet, checks: collectors.Checks{Mutations: time.Second}}
}

// mutate changes cached objects in place, one after the other.
func mutate(ctx context.Context, p *program) error {
	n := 0
	every(ctx, time.Minute, func() {
		obj, there, err := p.informer.GetStore().GetByKey(fmt.Sprintf("%s/stays-%d", quiet, n%5))
		if m, ok := obj.(*corev1.ConfigMap); ok && there && err == nil {
			m.Generation++ //nolint:informerlint // the fault
		}
		n++
	})
	return nil
}

// thousandInformers starts and stops a thousand informers next to one that keeps running. All have the same labels, because a
// thousand copies of the same series would only make the recording larger.
func thousandInformers(_ context.Context, l *lab) (*subject, error) {
	p, t, err := l.startProgram(l.plane.Config(), func(*program) programOptions { return programOptions{namespace: quiet} })
	if err != nil {
		return nil, err
	}
	return &subject{[]*target{l.well, t}, func(ctx context.Context) error {
		starting, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		for range 1000 {
			lw, example, err := p.source()
			if err != nil {
				return err
			}
			inf := informer.NewSharedIndexInformer(p.observer, informer.For(configMaps, quiet), lw, example, cache.SharedIndexInformerOptions{})
			running.Go(func() { inf.RunWithContext(starting) })
		}
		if err := sleep(ctx, 5*time.Minute); err != nil {
			return nil // a short trial
		}
		stop()
		running.Wait()
		<-ctx.Done()
		return nil
	}}, nil
}
