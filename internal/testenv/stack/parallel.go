package stack

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Binaries returns the paths of programs, in the order of the names. Missing ones are built as by Binary, several at a time on
// machines with more than two cores. log reports how many are done; a nil log is silent. The first error ends the other builds.
func Binaries(ctx context.Context, log *slog.Logger, names ...string) ([]string, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var modules [][]string
	index := map[string]int{} // by directory of the module
	for _, name := range names {
		p, err := programByName(name)
		if err != nil {
			return nil, err
		}
		if _, ok := index[p.dir]; !ok {
			index[p.dir] = len(modules)
			modules = append(modules, nil)
		}
		modules[index[p.dir]] = append(modules[index[p.dir]], name)
	}
	missing, _ := Missing(ctx, names...)
	var done atomic.Int64
	var paths sync.Map
	err := buildModules(ctx, modules, max(1, runtime.NumCPU()/2), func(ctx context.Context, name string) error {
		path, err := Binary(ctx, name, log)
		if err != nil {
			return err
		}
		paths.Store(name, path)
		if slices.Contains(missing, name) {
			log.Info("servers built", "done", fmt.Sprintf("%d of %d", done.Add(1), len(missing)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	inOrder := make([]string, len(names))
	for i, name := range names {
		path, _ := paths.Load(name)
		inOrder[i] = path.(string)
	}
	return inOrder, nil
}

// buildModules builds the programs of up to limit modules at a time, in their order. The programs of one module are built one
// after the other, because they share most packages, which concurrent builds would compile twice.
func buildModules(ctx context.Context, modules [][]string, limit int, build func(context.Context, string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	for _, programs := range modules {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			for _, name := range programs {
				if err := build(ctx, name); err != nil {
					cancel(err) // the first one is the cause
					return
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
